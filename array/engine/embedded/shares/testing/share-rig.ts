import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { testNetwork } from '../../../../../kernel/process/testing/addresses.ts';
import { Client3 } from '../../../../../protocols/nfs/testing/client3.ts';
import { RpcClient } from '../../../../../protocols/nfs/testing/rpc-client.ts';
import type { EngineEvent } from '../../../events.ts';
import type { ServedShare, ShareEngine } from '../../../shares.ts';
import { composeEngine } from '../../compose-engine.ts';
import { type EngineRig, engineRig, MIB, type RigOptions } from '../../testing/rig.ts';
import { EngineShares } from '../shares.ts';

export const FILE_PORT = 2049;

/** An engine with a pool and the shares on it, served over NFS. */
export class ShareRig {
  readonly rig: EngineRig;
  readonly host: string;
  /** Where what is kept for shares outside of their volumes is. */
  readonly folder: string;
  readonly problems: string[] = [];
  readonly #t: TestContext;
  readonly #current: () => EngineShares;

  constructor(t: TestContext, rig: EngineRig, folder: string, current: () => EngineShares) {
    this.#t = t;
    this.rig = rig;
    this.folder = folder;
    this.host = `${testNetwork()}.1`;
    this.#current = current;
  }

  get engine() {
    return this.rig.engine;
  }

  get shares(): ShareEngine {
    const shares = this.#current();
    return composeEngine(shares, shares.limits, shares.files);
  }

  /** A new volume with a filesystem, served as `/export/<its name>` to all clients on this machine. */
  async share(volume: string, changes: Partial<ServedShare> = {}, sizeBytes = 32 * MIB): Promise<void> {
    await this.rig.volume(volume, 'p', sizeBytes);
    await this.shares.formatShare(volume);
    await this.shares.putShare(servedShare(volume, changes));
  }

  async serve(): Promise<void> {
    await this.#current().serve([{ host: this.host, port: FILE_PORT }]);
  }

  /** What the engine does every few seconds. */
  retry(): void {
    this.#current().retry();
  }

  async connect(uid = 0): Promise<RpcClient> {
    const rpc = await RpcClient.open(FILE_PORT, this.host);
    rpc.credentials = { uid, gid: uid };
    this.#t.after(() => rpc.close());
    return rpc;
  }

  async client3(share: string, uid = 0): Promise<Client3> {
    return Client3.mount(await this.connect(uid), `/export/${share}`);
  }

  /** As a restart of the array: the next engine serves no share. */
  async reopen(): Promise<void> {
    await this.rig.reopen();
    await this.serve();
  }

  async reported(volume: string) {
    return (await this.rig.report()).volumes.find(({ id }) => id === volume);
  }
}

export async function shareRig(t: TestContext, options: RigOptions = {}): Promise<ShareRig> {
  const folder = mkdtempSync(join(tmpdir(), 'granary-shares-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const running: { shares?: EngineShares } = {};
  const rig = await engineRig(t, {
    driveMb: 256,
    ...options,
    shares: (source) => {
      const onProblem = (problem: string) => void shares.problems.push(problem);
      const onEvent = (event: EngineEvent) => void shares.rig.events.push(event);
      running.shares = new EngineShares({ source, folder, onEvent, onProblem, serverName: 'test', controller: 'vc-0' });
      return running.shares;
    },
  });
  const current = () => running.shares as EngineShares;
  const shares = new ShareRig(t, rig, folder, current);
  await rig.pool('p', 0, 1);
  await shares.serve();
  return shares;
}

export function servedShare(volume: string, changes: Partial<ServedShare> = {}): ServedShare {
  return {
    volume,
    exportNames: [volume],
    clients: [{ server: 'srv-00000001', address: '127.0.0.0/8', readOnly: false }],
    sync: false,
    updatesAccessTimes: true,
    squash: 'none',
    anonymousUid: 65_534,
    anonymousGid: 65_534,
    readAheadBytes: 0,
    isAudited: false,
    snapshots: [],
    ...changes,
  };
}
