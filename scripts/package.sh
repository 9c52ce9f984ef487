#!/usr/bin/env bash
# Builds a release with man pages and completions as target/dist/prof-VERSION-TARGET.tar.gz, and as a Debian
# package if cargo-deb is installed (cargo install cargo-deb).
#
#   scripts/package.sh                               for this machine
#   scripts/package.sh x86_64-unknown-linux-musl     static, for any Linux
#
# The program itself writes its man pages and completions, so it has to run on this machine.
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
target=${1:-$host}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)

# A build without --target may already exist for this machine.
for_target=()
program=target/release/prof
if [[ $target != "$host" ]]; then
  for_target=(--target "$target")
  program=target/$target/release/prof
fi
cargo build --release --locked "${for_target[@]}"
case $target in *windows*) program=$program.exe ;; esac

# The list of assets in Cargo.toml refers to this folder, whatever the target.
assets=target/assets
rm -rf "$assets"
mkdir -p "$assets"
"$program" man --output "$assets/man"
for shell in bash zsh fish elvish powershell; do
  "$program" completions "$shell" > "$assets/prof.$shell"
done

name=prof-$version-$target
dist=target/dist/$name
rm -rf "$dist"
mkdir -p "$dist/completions"
cp "$program" README.md CHANGELOG.md LICENSE LICENSE-MIT LICENSE-APACHE "$dist"
cp -r "$assets/man" docs "$dist"
cp "$assets"/prof.* "$dist/completions"
tar -C target/dist -czf "target/dist/$name.tar.gz" "$name"
echo "target/dist/$name.tar.gz"

if [[ $target == *linux* ]] && cargo deb --version > /dev/null 2>&1; then
  cargo deb --no-build --locked "${for_target[@]}" --output target/dist
fi
