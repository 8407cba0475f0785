import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import {
  linuxDisk,
  linuxMount,
  macMount,
  vmwareDisk,
  vmwareMount,
  windowsDisk,
  type Disk,
} from '../src/array/servers/commands.ts';

/** Goal: what a person pastes at a server is complete, and no name of a volume, server or target becomes part of a command. */

const disk: Disk = {
  address: '192.0.2.7',
  target: 'iqn.2025-11.io.granary:vsa-00000001',
  lun: 3,
  name: `Anna's "books"; $(reboot)`,
  initiator: 'iqn.2026-11.org.example:desk',
  chapUser: undefined,
  isReadOnly: false,
};
const BY_PATH = '/dev/disk/by-path/ip-192.0.2.7:3260-iscsi-iqn.2025-11.io.granary:vsa-00000001-lun-';

test('a server that is signed in for another volume sees the new disk, and has it after a restart', () => {
  const linux = linuxDisk(disk);
  for (const line of [/-p 192\.0\.2\.7:3260 --login/, /--rescan && sudo udevadm settle/, /\/etc\/fstab$/])
    assert.match(linux, line);
  assert.ok(linux.indexOf('--login') < linux.indexOf('--rescan') && linux.indexOf('--rescan') < linux.indexOf('mkfs'));
  assert.match(windowsDisk(disk), /Update-HostStorageCache[^]*-IsOffline \$false[^]*Initialize-Disk/);
});

test('udev names a disk by its LUN, from 256 on by the long form of it', () => {
  assert.ok(linuxDisk(disk).includes(`DISK=${BY_PATH}3\n`));
  assert.ok(linuxDisk({ ...disk, lun: 300 }).includes(`DISK=${BY_PATH}0x412c000000000000\n`));
});

test('a server that may only read makes no filesystem', () => {
  const reading = { ...disk, isReadOnly: true };
  assert.doesNotMatch(linuxDisk(reading), /mkfs/);
  assert.match(linuxDisk(reading), /mount -o ro,_netdev/);
  assert.doesNotMatch(windowsDisk(reading), /Initialize-Disk|Format-Volume/);
});

test('the sign-in of CHAP is in every kind of commands, its secret in none', () => {
  for (const commands of [linuxDisk, windowsDisk, vmwareDisk]) {
    const text = commands({ ...disk, chapUser: `de'sk` });
    assert.match(text, /CHAP|chap/);
    assert.match(text, /SECRET-OF-THE-SERVER/);
  }
});

test('names are quoted: a shell reads the commands as they are shown', () => {
  const mount = { path: "192.0.2.7:/export/Anna's $(reboot)", name: disk.name, isReadOnly: true };
  const all = [linuxDisk, vmwareDisk].map((commands) => commands({ ...disk, chapUser: `de'sk $(reboot)` }));
  for (const text of [...all, linuxMount(mount), vmwareMount(mount), macMount(mount)]) {
    const { status, stderr } = spawnSync('sh', ['-n'], { input: text, encoding: 'utf8' });
    assert.equal(status, 0, `${stderr}\n${text}`);
    assert.doesNotMatch(text.replaceAll(/'(?:[^']|'\\'')*'/g, ''), /\$\(reboot\)/);
  }
});
