#!/usr/bin/env node
/**
 * The way in. Granary is TypeScript that Node 24 runs as it is; on an older Node this file starts itself again on the
 * Node that the package `node` brought. Keep it to what Node 18 understands.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { constants, homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_NEEDED = 24;
const LEAVE_MS_MAX = 5_000;

if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_NEEDED) await start();
else startOnOwnNode();

async function start() {
  module.enableCompileCache?.(cacheFolder());
  const { main } = await import('../main.ts');
  process.exitCode = await main(process.argv.slice(2));
  // The command is done: whatever still holds the process up is not worth waiting for.
  setTimeout(() => process.exit(), LEAVE_MS_MAX).unref();
}

/** A folder of this user alone: whoever can write there decides what runs. */
function cacheFolder() {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (process.platform === 'win32' && LOCALAPPDATA) return join(LOCALAPPDATA, 'granary', 'compile-cache');
  const mac = process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches') : undefined;
  return join(XDG_CACHE_HOME || mac || join(homedir(), '.cache'), 'granary', 'compile-cache');
}

function startOnOwnNode() {
  const node = ownNode();
  if (node === undefined || process.env.GRANARY_LAUNCHER !== undefined) {
    process.stderr.write(
      `granary: Granary needs Node ${NODE_MAJOR_NEEDED}; this is ${process.version}, and the copy that npm installs is missing. ` +
        `Run \`npm ci\` with install scripts allowed, or install Node ${NODE_MAJOR_NEEDED} and try again.\n`,
    );
    process.exitCode = 1;
    return;
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, GRANARY_LAUNCHER: String(process.pid) },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`granary: ${node} could not be started: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal]);
  });
}

/** The executable that npm installed beside Granary: of the package `node`, or of the one for this platform. */
function ownNode() {
  const { platform, arch } = process;
  const executable = platform === 'win32' ? 'bin/node.exe' : 'bin/node';
  const names = ['node', `node-${platform === 'win32' ? 'win' : platform}-${arch}`];
  const { resolve } = createRequire(import.meta.url);
  for (const name of names) {
    try {
      const file = resolve(`${name}/${executable}`);
      if (existsSync(file)) return file;
    } catch {
      // Not installed.
    }
  }
  return undefined;
}
