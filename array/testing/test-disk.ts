import assert from 'node:assert/strict';
import { arrayApi } from '@granary/contract/array';
import { Initiator } from '@granary/protocols/iscsi/testing';
import { MB } from '../units.ts';
import type { Lasting, TestArray } from './test-array.ts';

const { controllers, servers, volumes } = arrayApi.groups;
const SECTOR_BYTES = 512;

type Lun = ReturnType<Awaited<ReturnType<typeof Initiator.login>>['lun']>;

/** Attaches the volume to a server and logs in as that server. */
export async function testDisk(t: Lasting, array: TestArray, volume: string): Promise<TestDisk> {
  const { client } = array;
  const iqn = `iqn.2026-01.org.example:${volume}`;
  const { server_name } = await client.call(servers.create, { display_name: `server of ${volume}`, iqn });
  await client.call(servers.attachVolumes, { id: [server_name], volume_name: [volume] });
  const disk = new TestDisk(array, volume, iqn);
  await disk.login(t);
  return disk;
}

/** A volume as its server sees it: everything over iSCSI, in megabytes. */
export class TestDisk {
  readonly #array: TestArray;
  readonly #volume: string;
  readonly #iqn: string;
  #lun: Lun | undefined;

  constructor(array: TestArray, volume: string, iqn: string) {
    this.#array = array;
    this.#volume = volume;
    this.#iqn = iqn;
  }

  /** Once more, after the array was restarted. */
  async login(t: Lasting): Promise<void> {
    const { client, configuration } = this.#array;
    const { vcontrollers } = await client.call(controllers.list, {});
    const active = vcontrollers.find(({ state }) => state === 'active');
    const { lun } = (await client.call(volumes.get, { id: this.#volume })).volume;
    assert.ok(active && lun !== null);
    const session = await Initiator.login({
      host: active.iscsi_ip,
      port: configuration.dataPort,
      targetName: active.target,
      initiatorName: this.#iqn,
    });
    t.after(() => session.close().catch(() => undefined));
    this.#lun = session.lun(lun);
    await this.#lun.clearUnitAttentions();
  }

  /** Safe when it resolves. */
  async write(atMb: number, bytes: Buffer): Promise<void> {
    for (let done = 0; done < bytes.length; done += MB) {
      await this.lun.write((atMb * MB + done) / SECTOR_BYTES, bytes.subarray(done, done + MB));
    }
    await this.lun.synchronizeCache();
  }

  async read(atMb: number, megabytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let at = atMb; at < atMb + megabytes; at++) {
      parts.push(await this.lun.read((at * MB) / SECTOR_BYTES, MB / SECTOR_BYTES));
    }
    return Buffer.concat(parts);
  }

  get lun(): Lun {
    assert.ok(this.#lun);
    return this.#lun;
  }
}
