#!/usr/bin/env python3
"""Builds a release and makes its packages in target/dist.

    scripts/package.py                                       for this machine
    scripts/package.py --target x86_64-unknown-linux-musl    static, for any Linux
    scripts/package.py --binary PATH                         packages a program that is already built
    scripts/package.py --try                                 also installs each package and runs it

Makes an archive, a Python wheel, npm packages and, for Linux, a Debian package if `dpkg-deb` is there. The program
itself writes its man pages and completions, so it has to run on this machine.

With `--try`, each package is installed into an empty place, where the first command of the README has to print what
the program prints without being installed.
"""

import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CRATE = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]
NAME, VERSION = CRATE["name"], CRATE["version"]
# The date of all files in packages, so that the same program gives the same packages.
DATE = int(os.environ.get("SOURCE_DATE_EPOCH", "1577836800"))
SHELLS = {"bash": "prof.bash", "zsh": "_prof", "fish": "prof.fish", "elvish": "prof.elv", "powershell": "prof.ps1"}
LICENCES = ["LICENSE", "LICENSE-MIT", "LICENSE-APACHE"]


class Platform(NamedTuple):
    """What registries call a target of the Rust compiler."""

    npm: str
    # None: the lowest version of glibc that the program runs with decides.
    wheel: str | None
    debian: str | None = None


PLATFORMS = {
    "x86_64-unknown-linux-gnu": Platform("linux-x64-gnu", None, "amd64"),
    "x86_64-unknown-linux-musl": Platform("linux-x64-musl", "manylinux2014_x86_64.musllinux_1_1_x86_64", "amd64"),
    "aarch64-unknown-linux-musl": Platform("linux-arm64-musl", "manylinux2014_aarch64.musllinux_1_1_aarch64", "arm64"),
    "aarch64-apple-darwin": Platform("darwin-arm64", "macosx_11_0_arm64"),
    "x86_64-apple-darwin": Platform("darwin-x64", "macosx_10_12_x86_64"),
    "x86_64-pc-windows-msvc": Platform("win32-x64", "win_amd64"),
}


def output(*command, **options):
    """What a program prints."""
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, **options).stdout


def run(*command, **options):
    """Runs a program that prints only to say what is wrong."""
    try:
        output(*command, stderr=subprocess.STDOUT, **options)
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(error.cmd)}: exit code {error.returncode}\n{error.stdout.decode(errors='replace')}")


class Release:
    """The program and the files that every package has in addition."""

    def __init__(self, binary, target, folder):
        self.target, self.platform = target, PLATFORMS[target]
        self.is_static = "musl" in target
        self.program = "prof.exe" if "windows" in target else "prof"
        self.binary = folder / self.program
        shutil.copy2(binary, self.binary)
        if "linux" in target and shutil.which("strip"):
            run("strip", self.binary)
        self.man, self.completions = folder / "man", folder / "completions"
        run(self.binary, "man", "--output", self.man)
        self.completions.mkdir()
        for shell, name in SHELLS.items():
            (self.completions / name).write_bytes(output(self.binary, "completions", shell))
        self.others = folder / "LICENSES-OF-LIBRARIES"
        self.others.write_text(licences_of_libraries(target))

    def licences(self):
        return [ROOT / name for name in LICENCES] + [self.others]


def licences_of_libraries(target):
    """The licences of all libraries in the program, which have to accompany it. Each distinct text occurs once."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    metadata = json.loads(output(*command, cwd=ROOT))
    needed = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting, found = [metadata["resolve"]["root"]], set()
    while waiting:
        package = waiting.pop()
        if package not in found:
            found.add(package)
            kinds = {entry["pkg"]: {kind["kind"] for kind in entry["dep_kinds"]} for entry in needed[package]["deps"]}
            waiting += [name for name, kind in kinds.items() if None in kind]
    texts = {}
    for package in sorted((p for p in metadata["packages"] if p["id"] in found), key=lambda p: p["name"]):
        if package["source"]:
            name = f"{package['name']} {package['version']} ({package['license']})"
            folder = Path(package["manifest_path"]).parent
            files = [file for file in sorted(folder.iterdir()) if re.match("(?i)(licen[cs]e|copying|notice)", file.name)]
            for file in filter(Path.is_file, files):
                texts.setdefault(file.read_text(errors="replace").strip(), []).append(name)
            if not files:
                texts.setdefault(f"{package['license']}: {package['repository']}", []).append(name)
    parts = ["\n".join(dict.fromkeys(names)) + "\n\n" + text for text, names in texts.items()]
    return ("\n\n" + "=" * 80 + "\n").join(parts) + "\n"


def write_tar(path, files):
    """Writes a tar.gz of (name, content, mode)."""
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=DATE) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for name, content, mode in sorted(files):
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode, entry.mtime = len(content), mode, DATE
                tar.addfile(entry, io.BytesIO(content))
    return path


def archive(release, dist):
    """The program with man pages, completions, documentation and licences."""
    top = f"prof-{VERSION}-{release.target}"
    files = [(f"{top}/{release.program}", release.binary.read_bytes(), 0o755)]
    documents = [ROOT / "README.md", ROOT / "CHANGELOG.md", *release.licences()]
    files += [(f"{top}/{path.name}", path.read_bytes(), 0o644) for path in documents]
    for folder, below in [(ROOT / "docs", "docs"), (release.man, "man"), (release.completions, "completions")]:
        for path in filter(Path.is_file, folder.rglob("*")):
            files.append((f"{top}/{below}/{path.relative_to(folder).as_posix()}", path.read_bytes(), 0o644))
    return [write_tar(dist / f"{top}.tar.gz", files)]


def wheel(release, dist):
    """A Python wheel that has nothing but the program: four files in a zip archive."""
    tag = f"py3-none-{release.platform.wheel or manylinux(release.binary)}"
    name = f"{NAME.replace('-', '_')}-{VERSION}"
    info = f"{name}.dist-info"
    licences = release.licences()
    metadata = [
        "Metadata-Version: 2.4", f"Name: {NAME}", f"Version: {VERSION}", f"Summary: {CRATE['description']}",
        f"License-Expression: {CRATE['license']}", *(f"License-File: {path.name}" for path in licences),
        f"Keywords: {','.join(CRATE['keywords'])}", "Requires-Python: >=3.8", "Description-Content-Type: text/markdown",
        "", (ROOT / "packages/README.md").read_text(),
    ]
    tags = [f"Tag: py3-none-{platform}" for platform in tag.removeprefix("py3-none-").split(".")]
    about = ["Wheel-Version: 1.0", "Generator: scripts/package.py", "Root-Is-Purelib: false", *tags, ""]
    files = [(f"{name}.data/scripts/{release.program}", release.binary.read_bytes(), 0o755)]
    files += [(f"{info}/licenses/{path.name}", path.read_bytes(), 0o644) for path in licences]
    files.append((f"{info}/METADATA", "\n".join(metadata).encode(), 0o644))
    files.append((f"{info}/WHEEL", "\n".join(about).encode(), 0o644))
    record = ""
    for path, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))
    with zipfile.ZipFile(dist / f"{name}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as packed:
        for path, content, mode in files:
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
            packed.writestr(entry, content)
    return [dist / f"{name}-{tag}.whl"]


def manylinux(binary):
    """The platform tag for the newest version of glibc that the program asks for, such as `manylinux_2_34_x86_64`."""
    symbols = output("objdump", "-T", binary).decode()
    versions = [tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_(\d+\.\d+)", symbols)]
    return "manylinux_{}_{}_x86_64".format(*max(versions))


def npm(release, dist):
    """A package with the program, and the main one, which names those of all platforms as optional dependencies."""
    main = json.loads((ROOT / "packages/npm/package.json").read_text())
    shared = {key: main[key] for key in ["description", "license", "keywords"]} | {"version": VERSION}
    names = [f"{main['name']}-{platform.npm}" for platform in PLATFORMS.values()]
    main |= shared | {"optionalDependencies": dict.fromkeys(sorted(names), VERSION)}
    system, processor, *libc = release.platform.npm.split("-")
    own = {"name": f"{main['name']}-{release.platform.npm}", **shared, "os": [system], "cpu": [processor]}
    # The static program runs everywhere, but the other one is preferred where there is one.
    if processor == "x64" and libc:
        own["libc"] = [{"gnu": "glibc"}.get(libc[0], libc[0])]

    def package(description, program, texts):
        content = (json.dumps(description, indent=2) + "\n").encode()
        files = [("package/package.json", content, 0o644), (f"package/{program.name}", program.read_bytes(), 0o755)]
        files += [(f"package/{path.name}", path.read_bytes(), 0o644) for path in texts]
        path = dist / f"{description['name'].lstrip('@').replace('/', '-')}-{VERSION}.tgz"
        return write_tar(path, files)

    texts = [ROOT / "packages/README.md", *release.licences()]
    # The main package is the same on all platforms, and contains no libraries.
    return [package(main, ROOT / "packages/npm/prof.js", texts[:-1]), package(own, release.binary, texts)]


def debian(release, dist):
    """A Debian package with man pages and completions where Debian expects them."""
    if not release.platform.debian or not shutil.which("dpkg-deb"):
        print("no Debian package: this is not for Linux, or there is no dpkg-deb", file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory() as name:
        top = Path(name) / "package"
        documentation = f"usr/share/doc/{NAME}"
        files = {"usr/bin/prof": release.binary}
        files |= {f"usr/share/man/man1/{page.name}.gz": page for page in release.man.iterdir()}
        files |= {
            "usr/share/bash-completion/completions/prof": release.completions / "prof.bash",
            "usr/share/zsh/vendor-completions/_prof": release.completions / "_prof",
            "usr/share/fish/vendor_completions.d/prof.fish": release.completions / "prof.fish",
            f"{documentation}/README.md": ROOT / "README.md",
            f"{documentation}/changelog.gz": ROOT / "CHANGELOG.md",
        }
        files |= {f"{documentation}/docs/{page.name}": page for page in (ROOT / "docs").glob("*.md")}
        for place, path in files.items():
            content = path.read_bytes()
            write(top / place, gzip.compress(content, mtime=DATE) if place.endswith(".gz") else content)
        copyright_text = b"\n\n".join(path.read_bytes() for path in release.licences())
        write(top / documentation / "copyright", copyright_text)
        (top / "usr/bin/prof").chmod(0o755)
        depends = [] if release.is_static else [f"Depends: {libraries(release.binary, Path(name))}"]
        control = [
            f"Package: {NAME}", f"Version: {VERSION}", f"Architecture: {release.platform.debian}",
            "Maintainer: The authors of prof <prof@example.invalid>", *depends, "Suggests: graphviz", "Section: devel",
            "Priority: optional", f"Installed-Size: {sum(path.stat().st_size for path in files.values()) // 1024}",
            "Description: profile analyzer for the terminal, pictures and CI",
            " prof reads profiles in more than 40 formats, such as pprof, perf, JFR, V8 and",
            " collapsed stacks, and shows where the time or the memory goes: as text, as",
            " flame graphs and call graphs, or as a comparison that gates a build.", "",
        ]
        write(top / "DEBIAN/control", "\n".join(control).encode())
        path = dist / f"{NAME}_{VERSION}-1_{release.platform.debian}.deb"
        if release.is_static:
            path = path.with_name(f"{NAME}-static_{VERSION}-1_{release.platform.debian}.deb")
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(DATE)}
        run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", top, path, env=environment)
    return [path]


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o644)


def libraries(binary, folder):
    """The Debian packages that the program needs, such as `libc6 (>= 2.34)`."""
    write(folder / "debian/control", f"Source: {NAME}\n\nPackage: {NAME}\nArchitecture: any\n".encode())
    # It would like the program to be in the package already.
    found = output("dpkg-shlibdeps", "--warnings=0", "-O", "-e", binary, cwd=folder).decode()
    return found.strip().removeprefix("shlibs:Depends=")


FORMS = {"archive": archive, "wheel": wheel, "npm": npm, "debian": debian}


def try_archive(paths, folder, release):
    with tarfile.open(paths[0]) as tar:
        tar.extractall(folder, filter="data")
    top = folder / f"prof-{VERSION}-{release.target}"
    expect(top, "man/prof.1", "completions/_prof", "LICENSES-OF-LIBRARIES", "docs/guide.md")
    return [top / release.program]


def try_wheel(paths, folder, release):
    tag = paths[0].stem.rsplit("-", 1)[1]
    if "linux" in tag and not release.is_static and shutil.which("auditwheel"):
        audit = output("auditwheel", "show", paths[0]).decode()
        if f'constrains the platform tag to "{tag}"' not in " ".join(audit.split()):
            sys.exit(f"auditwheel does not agree with {tag}:\n{audit}")
        print(f"wheel: auditwheel agrees with {tag}")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    run(sys.executable, "-m", "pip", "--python", scripts / "python", "install", "--no-index", "--no-deps", paths[0])
    return [scripts / release.program]


def try_npm(paths, folder, release):
    tool = shutil.which("npm")
    if not tool:
        print("npm: not tried, there is no npm", file=sys.stderr)
        return None
    # Static programs run on a system with another C library as well, but are not meant for it. The packages of other
    # platforms are optional, so it does not matter that they cannot be fetched.
    force = ["--force"] if release.is_static else []
    run(tool, "install", "--global", "--prefix", folder, "--offline", "--no-audit", "--no-fund", *force, *reversed(paths),
        env=os.environ | {"npm_config_cache": str(folder / "cache")})
    return [folder / ("prof.cmd" if os.name == "nt" else "bin/prof")]


def try_debian(paths, folder, _):
    if not paths:
        return None
    if os.name == "posix" and os.geteuid() != 0:
        print("Debian package: unpacked but not installed, for that takes root", file=sys.stderr)
        run("dpkg-deb", "--extract", paths[0], folder)
    else:
        # An empty system, which lacks even the C library.
        write(folder / "var/lib/dpkg/status", b"")
        (folder / "var/lib/dpkg/info").mkdir()
        (folder / "var/lib/dpkg/updates").mkdir()
        run("dpkg", f"--root={folder}", "--force-depends", "--install", paths[0])
    expect(folder, "usr/share/man/man1/prof.1.gz", f"usr/share/doc/{NAME}/copyright")
    return [folder / "usr/bin/prof"]


def try_scratch(release, folder):
    """The static program alone in a file system, as in the image that the Dockerfile makes."""
    shutil.copy2(release.binary, folder)
    return ["chroot", folder, "/prof"]


def expect(folder, *names):
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        sys.exit(f"{folder}: {', '.join(missing)} missing")


def first_command():
    """The arguments of the first command of the README: `top` and a profile."""
    found = re.search(r"^cargo run .*-- (.*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    return found[1].split()


def prints(program, folder):
    """What the first command prints, run in a folder that has nothing but its profile."""
    arguments = first_command()
    profile = folder / arguments[-1]
    profile.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(ROOT / arguments[-1], profile)
    environment = {key: value for key, value in os.environ.items() if key != "PROF_PROFILE"}
    return output(*program, *arguments, cwd=folder, env=environment)


def try_all(release, packages):
    tries = {"archive": try_archive, "wheel": try_wheel, "npm": try_npm, "debian": try_debian}
    places = [(form, lambda folder, form=form: tries[form](packages[form], folder, release)) for form in packages]
    if release.is_static and os.geteuid() == 0:
        places.append(("scratch", lambda folder: try_scratch(release, folder)))
    with tempfile.TemporaryDirectory() as name:
        expected = prints([release.binary], Path(name))
    if first_command()[-1].rsplit("/", 1)[-1].encode() not in expected:
        sys.exit(f"unexpected output: {expected.decode()}")
    for form, place in places:
        with tempfile.TemporaryDirectory() as name:
            program = place(Path(name))
            if not program:
                continue
            printed = prints(program, Path(name))
        if printed != expected:
            sys.exit(f"{form}: printed\n{printed.decode()}instead of\n{expected.decode()}")
        print(f"{form}: installed and run")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, help="a program that is already built")
    parser.add_argument("--target", help="the target of the Rust compiler")
    parser.add_argument("--dist", type=Path, default=ROOT / "target/dist", help="the folder for the packages")
    parser.add_argument("--try", action="store_true", dest="try_packages", help="install each package and run it")
    parser.add_argument("forms", nargs="*", metavar="FORM", help=f"only these: {', '.join(FORMS)}")
    options = parser.parse_args()
    if unknown := set(options.forms) - set(FORMS):
        parser.error(f"unknown: {', '.join(unknown)}")
    host = re.search("^host: (.*)$", output("rustc", "-vV").decode(), re.MULTILINE)[1]
    target = options.target or host
    if target not in PLATFORMS:
        parser.error(f"{target} has no name in the registries yet: add it to PLATFORMS")
    binary = options.binary
    if not binary:
        subprocess.run(["cargo", "build", "--profile", "shipped", "--locked", "--target", target], cwd=ROOT, check=True)
        binary = ROOT / "target" / target / "shipped" / ("prof.exe" if "windows" in target else "prof")
    options.dist.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        release = Release(binary, target, Path(name))
        packages = {form: FORMS[form](release, options.dist) for form in options.forms or FORMS}
        for path in [path for paths in packages.values() for path in paths]:
            print(path)
        if options.try_packages:
            try_all(release, packages)


if __name__ == "__main__":
    main()
