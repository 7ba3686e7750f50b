#!/usr/bin/env bash
# Draw the icons anew after a change of their SVGs, and commit them. Needs rsvg-convert, icotool and png2icns (Debian:
# librsvg2-bin, icoutils, icnsutils).
set -euo pipefail
cd "$(dirname "$0")/../resources/icons"
large=$(mktemp --suffix .png)
trap 'rm -f "$large"' EXIT
draw() { rsvg-convert --width "$1" --height "$1" --output "$2" "$3"; }
draw 16 plantdesk-16.png plantdesk-small.svg
for size in 24 32 48 64 128 256 512; do draw "$size" "plantdesk-$size.png" plantdesk.svg; done
draw 1024 "$large" plantdesk.svg
icotool --create --output plantdesk.ico --raw=plantdesk-{16,24,32,48,64,128,256}.png
png2icns plantdesk.icns plantdesk-{16,32,48,128,256,512}.png "$large" >/dev/null
