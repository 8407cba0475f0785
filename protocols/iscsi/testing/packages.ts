import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_MS_MAX = 120_000;
/** Tests run side by side: one waits for the other's installation. */
const INSTALL = ['install', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=60'];

/** Debian packages whose programs the conformance and interoperability tests use. */
export const ISCSI_PACKAGES = ['libiscsi-bin', 'tgt', 'qemu-utils', 'qemu-block-extra'] as const;

/** Installs what is missing where that is possible (root, apt). Returns what is missing still. */
export async function ensurePackages(names: readonly string[]): Promise<string[]> {
  const missing = await missingOf(names);
  const canInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (missing.length === 0 || !canInstall) return missing;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, timeout: INSTALL_MS_MAX, maxBuffer: 64 * 1024 * 1024 };
  const install = () => run('apt-get', [...INSTALL, ...missing], options);
  // The lists may be old, or there is no way out to a mirror: what is missing then is said below.
  await install()
    .catch(() => run('apt-get', ['update'], options).then(install))
    .catch(() => undefined);
  return missingOf(names);
}

/** The reason to skip a test, or `false` to run it: what `test(name, { skip })` takes. */
export async function skipWithout(...names: string[]): Promise<string | false> {
  const missing = await ensurePackages(names);
  if (missing.length === 0) return false;
  return `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not installed`;
}

async function missingOf(names: readonly string[]): Promise<string[]> {
  const installed = await Promise.all(names.map(isInstalled));
  return names.filter((_, index) => installed[index] !== true);
}

async function isInstalled(name: string): Promise<boolean> {
  try {
    const { stdout } = await run('dpkg-query', ['--show', '--showformat=${Status}', name]);
    return stdout.includes('install ok installed');
  } catch {
    return false;
  }
}
