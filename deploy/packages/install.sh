#!/bin/sh
# Installs matchday @VERSION@ on Linux: checks the archive's sum, and puts the program into ~/.local/bin.
#   sh install.sh [--from URL-OR-FOLDER] [--to FOLDER]
# FROM holds the files of the release.
set -eu
from="@RELEASES@"
to="${HOME:?}/.local/bin"
while [ $# -gt 0 ]; do
  case "$1" in
    --from) from="${2:?--from needs a URL or a folder}"; shift 2 ;;
    --to) to="${2:?--to needs a folder}"; shift 2 ;;
    *) echo "install.sh [--from URL-OR-FOLDER] [--to FOLDER]" >&2; exit 2 ;;
  esac
done
[ -n "$from" ] || { echo "name where the release is: --from URL-OR-FOLDER" >&2; exit 2; }
case "$(uname -s) $(uname -m)" in
  "Linux x86_64") ;;
  *) echo "there is no archive for $(uname -s) on $(uname -m): pip install matchday, or cargo install matchday" >&2; exit 1 ;;
esac
name="matchday-@VERSION@-x86_64-unknown-linux-gnu"
sum="@SHA256 matchday-@VERSION@-x86_64-unknown-linux-gnu.tar.gz@"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
case "$from" in
  https://* | http://127.0.0.1:*)
    if command -v curl >/dev/null; then
      curl --fail --silent --show-error --location --output "$work/archive" "$from/$name.tar.gz"
    else
      wget --quiet --output-document "$work/archive" "$from/$name.tar.gz"
    fi
    ;;
  *) cp "$from/$name.tar.gz" "$work/archive" ;;
esac
found="$(sha256sum "$work/archive" | cut -d' ' -f1)"
if [ "$found" != "$sum" ]; then
  echo "$name.tar.gz has the sum $found, and should have $sum: nothing is installed" >&2
  exit 1
fi
tar -xzf "$work/archive" -C "$work"
mkdir -p "$to"
# Beside it first, so that a program that runs is replaced and not written into.
cp "$work/$name/matchday" "$to/.matchday.new"
chmod 755 "$to/.matchday.new"
mv "$to/.matchday.new" "$to/matchday"
"$to/matchday" --version
echo "installed as $to/matchday"
case ":$PATH:" in
  *":$to:"*) ;;
  *)
    profile="$HOME/.profile"
    line="export PATH=\"$to:\$PATH\""
    grep -qsxF "$line" "$profile" || echo "$line" >> "$profile"
    echo "$to is on the path of new shells ($profile); in this one: $line"
    ;;
esac
