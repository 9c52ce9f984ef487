#!/usr/bin/env node
// Starts the program from the package for this platform, which npm installed next to this one.
"use strict";

const { spawnSync } = require("node:child_process");

// A package without a C library's name is for systems that have only one. Static programs (musl) run on any Linux.
const suffixes = process.platform === "linux" ? ["-gnu", "-musl"] : [""];
const program = process.platform === "win32" ? "prof.exe" : "prof";
const packages = suffixes.map((suffix) => `${require("./package.json").name}-${process.platform}-${process.arch}${suffix}`);

function find() {
    for (const name of packages) {
        try {
            return require.resolve(`${name}/${program}`);
        } catch {
            // The next one may be installed.
        }
    }
    console.error(`error: none of these packages is installed: ${packages.join(", ")}`);
    console.error("hint: install without --omit=optional; on other platforms, build prof with cargo");
    process.exit(2);
}

const { error, signal, status } = spawnSync(find(), process.argv.slice(2), { stdio: "inherit" });
if (error) {
    console.error(`error: ${error.message}`);
    process.exit(2);
}
if (signal) {
    process.kill(process.pid, signal);
}
process.exit(status ?? 2);
