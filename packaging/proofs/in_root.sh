#!/usr/bin/env bash
# Run a command inside a Debian root folder, with mounts and processes of its own that end with it.
#
#   in_root.sh [--offline] ROOT COMMAND...
#
# --offline: with a network of its own, too, that has only a loopback. Needs root and Linux.
set -euo pipefail
spaces=(--mount --pid --fork --kill-child)
if [[ ${1:-} == --offline ]]; then
  spaces+=(--net)
  shift
fi
root=$1
shift
cp /etc/resolv.conf "$root/etc/resolv.conf"
exec unshare "${spaces[@]}" bash -euc '
  root=$1
  shift
  mount -t proc proc "$root/proc"
  mount -t sysfs sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount --make-rslave "$root/dev"
  mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
  ip link set lo up 2>/dev/null || true
  exec chroot "$root" env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
' in_root "$root" "$@"
