#!/usr/bin/env bash
# Put the signing certificate into a keychain of its own, for a machine that is thrown away afterwards.
#
# MACOS_CERTIFICATE (a .p12 in base64), MACOS_CERTIFICATE_PASSWORD, RUNNER_TEMP
set -euo pipefail
keychain=$RUNNER_TEMP/signing.keychain-db
certificate=$RUNNER_TEMP/certificate.p12
password=$(openssl rand -hex 24)
trap 'rm -f "$certificate"' EXIT
(umask 077 && base64 --decode <<<"$MACOS_CERTIFICATE" >"$certificate")
security create-keychain -p "$password" "$keychain"
security set-keychain-settings -lut 21600 "$keychain"
security unlock-keychain -p "$password" "$keychain"
security import "$certificate" -k "$keychain" -P "$MACOS_CERTIFICATE_PASSWORD" -T /usr/bin/codesign
security set-key-partition-list -S apple-tool:,apple: -s -k "$password" "$keychain" >/dev/null
security list-keychains -d user -s "$keychain" login.keychain-db
