import { randomBytes } from 'node:crypto';
import { arrayClient, type ArrayClient, type PortalClient } from '@granary/client';
import { Initiator } from '@granary/protocols/iscsi/testing';
import { until } from '../testing/waiting.ts';

const MEGABYTE = 2 ** 20;

/** An array that was ordered, and its owner's way in. */
export interface Ordered {
  readonly id: number;
  readonly url: string;
  readonly client: ArrayClient;
  readonly passcode: string;
}

export async function orderArray(admin: PortalClient, name: string, drives: Record<string, number>): Promise<Ordered> {
  await admin.arrays.create({
    name,
    moderate: false,
    provider: 'local',
    engine: 'engine_small',
    drives,
  });
  return signInTo(admin, name);
}

/** Waits until the array answers; `user` is who ordered it. */
export async function signInTo(admin: PortalClient, name: string, user = 'admin'): Promise<Ordered> {
  const record = await until(async () => {
    const found = (await admin.arrays.list({ name })).data[0];
    return found?.status === 'created' && (await admin.arrays.get({ array_id: found.id })).data;
  }, `array ${name} is created`);
  const { id, management_url: url, initial_passcode: passcode } = record;
  if (url === null) throw new Error(`Array ${name} has no address`);
  const signedIn = await arrayClient({ url }).users.login({ user, password: passcode });
  return { id, url, passcode, client: arrayClient({ url, accessKey: signedIn.user.access_key }) };
}

/** A mirror of the first two free drives, and a pool of it. */
export async function makePool(array: ArrayClient, name: string): Promise<{ pool: string; group: string }> {
  const { disks } = await array.drives.listFree();
  const disk = disks.slice(0, 2).map((each) => each.name);
  const group = await array.raidGroups.create({ display_name: `pair of ${name}`, protection: 'RAID1', disk });
  const pool = await array.pools.create({ display_name: name, raid_groups: [group.raidgroup_name] });
  return { pool: pool.pool_name, group: group.raidgroup_name };
}

/** Attaches the volume to a server of its own. */
export async function attach(array: ArrayClient, volume: string): Promise<{ server: string; disk: Disk }> {
  const iqn = `iqn.2026-11.org.example:${volume}`;
  const { server_name: server } = await array.servers.create({ display_name: `server of ${volume}`, iqn });
  await array.servers.attachVolumes({ id: [server], volume_name: [volume] });
  return { server, disk: new Disk(array, iqn, volume) };
}

/** A disk as a server sees it: everything over iSCSI. */
export class Disk {
  readonly #array: ArrayClient;
  readonly #initiator: string;
  readonly #volume: string;

  constructor(array: ArrayClient, initiator: string, volume: string) {
    this.#array = array;
    this.#initiator = initiator;
    this.#volume = volume;
  }

  async place(): Promise<{ host: string; port: number; target: string; lun: number; initiator: string }> {
    const { vcontrollers } = await this.#array.controllers.list();
    const active = vcontrollers.find(({ state }) => state === 'active');
    const { volume } = await this.#array.volumes.get({ id: this.#volume });
    if (!active || volume.lun === null) throw new Error(`${this.#volume} is not attached`);
    return { host: active.iscsi_ip, port: 3260, target: active.target, lun: volume.lun, initiator: this.#initiator };
  }

  async session() {
    const { host, port, target, lun, initiator } = await this.place();
    const session = await Initiator.login({ host, port, targetName: target, initiatorName: initiator });
    const unit = session.lun(lun);
    await unit.clearUnitAttentions();
    return { session, unit };
  }

  async write(offset: number, bytes: Buffer): Promise<void> {
    const { session, unit } = await this.session();
    for (let at = 0; at < bytes.length; at += MEGABYTE)
      await unit.write((offset + at) / 512, bytes.subarray(at, at + MEGABYTE));
    await unit.synchronizeCache();
    await session.close();
  }

  async read(offset: number, length: number): Promise<Buffer> {
    const { session, unit } = await this.session();
    const pieces: Buffer[] = [];
    for (let at = 0; at < length; at += MEGABYTE) {
      const bytes = Math.min(MEGABYTE, length - at);
      pieces.push(Buffer.from(await unit.read((offset + at) / 512, bytes / 512)));
    }
    await session.close();
    return Buffer.concat(pieces);
  }

  /** As qemu's tools name it. */
  async imageOptions(): Promise<string> {
    const { host, port, target, lun, initiator } = await this.place();
    const parts = { driver: 'iscsi', transport: 'tcp', portal: `${host}:${port}`, target, lun };
    return [...Object.entries(parts), ['initiator-name', initiator]].map(([key, value]) => `${key}=${value}`).join(',');
  }
}

export function randomBuffer(megabytes: number): Buffer {
  return randomBytes(megabytes * MEGABYTE);
}

/** Waits until a drive, group, volume, … is in the state. */
export function reaches(what: string, status: () => Promise<string>, wanted: string, msMax = 60_000): Promise<string> {
  return until(
    async () => {
      const now = await status();
      return now === wanted && now;
    },
    `${what} is ${wanted}`,
    msMax,
  );
}
