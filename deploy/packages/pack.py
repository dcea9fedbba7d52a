"""What ./dist does to files: archives whose bytes depend on their contents alone, the SBOM, and templates."""

import gzip
import io
import json
import os
import pathlib
import stat
import sys
import tarfile
import time
import uuid
import zipfile

EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])


def files_in(folder):
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [(path, path.relative_to(folder).as_posix(), bool(path.stat().st_mode & stat.S_IXUSR)) for path in paths]


def take(wheel, program):
    """The program out of a wheel."""
    with zipfile.ZipFile(wheel) as files:
        [name] = [name for name in files.namelist() if ".data/scripts/matchday" in name]
        pathlib.Path(program).write_bytes(files.read(name))
    os.chmod(program, 0o755)


def tar(folder, into):
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, name, is_program in files_in(pathlib.Path(folder)):
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = path.stat().st_size, EPOCH, 0o755 if is_program else 0o644
            with path.open("rb") as content:
                archive.addfile(member, content)
    with open(into, "wb") as file, gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=EPOCH) as packed:
        packed.write(plain.getvalue())


def zip(folder, into):
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, name, is_program in files_in(pathlib.Path(folder)):
            member = zipfile.ZipInfo(name, time.gmtime(EPOCH)[:6])
            member.compress_type, member.create_system = zipfile.ZIP_DEFLATED, 3
            member.external_attr = (0o755 if is_program else 0o644) << 16
            archive.writestr(member, path.read_bytes())


def sbom(version):
    """CycloneDX of the crates that the program is built from, as `cargo metadata` on standard input names them."""
    metadata = json.load(sys.stdin)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    [program] = [id for id, package in packages.items() if package["name"] == "matchday"]

    def needs(id):
        """Without what only tests need."""
        return sorted(
            dependency["pkg"]
            for dependency in nodes[id]["deps"]
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"])
        )

    reached, open_ids = set(), [program]
    while open_ids:
        id = open_ids.pop()
        if id not in reached:
            reached.add(id)
            open_ids.extend(needs(id))

    def purl(id):
        return f"pkg:cargo/{packages[id]['name']}@{packages[id]['version']}"

    def component(id):
        package = packages[id]
        described = {
            "type": "application" if id == program else "library",
            "bom-ref": purl(id),
            "name": package["name"],
            "version": package["version"],
            "purl": purl(id),
        }
        if package["license"]:
            described["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        return described

    ordered = sorted(reached, key=purl)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_URL, f"matchday {version} {EPOCH}").urn,
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH)),
            "component": component(program),
        },
        "components": [component(id) for id in ordered if id != program],
        "dependencies": [{"ref": purl(id), "dependsOn": [purl(need) for need in needs(id)]} for id in ordered],
    }
    json.dump(document, sys.stdout, indent=1)
    print()


def fill(template, sums, version, releases, out):
    """A template with version, address, and for `@SHA256 NAME@` the sum of the file of that name."""
    text = pathlib.Path(template).read_text(encoding="utf-8")
    into = pathlib.Path(out, pathlib.Path(template).name)
    into.unlink(missing_ok=True)
    if "@RELEASES@/" in text and not releases:
        print(f"NOT MADE: {into.name}, which needs RELEASES, the address that it downloads from", file=sys.stderr)
        return
    text = text.replace("@VERSION@", version).replace("@RELEASES@", releases)
    for line in pathlib.Path(sums).read_text(encoding="utf-8").splitlines():
        digest, name = line.split()
        text = text.replace(f"@SHA256 {name}@", digest)
    if "@SHA256 " in text:
        missing = text.split("@SHA256 ")[1].split("@")[0]
        print(f"NOT MADE: {into.name}, which needs {missing}", file=sys.stderr)
        return
    into.write_text(text, encoding="utf-8", newline="\n")
    into.chmod(0o755 if into.suffix == ".sh" else 0o644)


if __name__ == "__main__":
    {"take": take, "tar": tar, "zip": zip, "sbom": sbom, "fill": fill}[sys.argv[1]](*sys.argv[2:])
