import { randomBytes } from 'node:crypto';
import { ApiError, StillRunning, type ArrayClient } from '@granary/client';
import { Random } from '../testing/random.ts';
import { until } from '../testing/waiting.ts';
import { Disk } from './block-array.ts';
import { ShareFile } from './share-file.ts';

/** How much of each volume is written and compared. */
const BYTES = 256 * 1024;
const PIECE = 16 * 1024;
/** A block of a filesystem: more of a file may be written in several steps. */
const SHARE_PIECE = 4096;
const VOLUMES_MAX = 6;
const SNAPSHOTS_MAX = 4;

/** One change a worker makes: the call, and what holds once it has been acknowledged. */
interface Operation {
  readonly name: string;
  call(): Promise<unknown>;
  apply(): void;
}

interface ModelSnapshot {
  readonly content: Buffer;
  readonly megabytes: number;
}

interface ModelVolume {
  readonly isShare: boolean;
  comment: string;
  megabytes: number;
  pool: number;
  attached: boolean;
  content: Buffer;
  readonly tags: Map<string, string>;
  readonly snapshots: Map<string, ModelSnapshot>;
}

/**
 * What one worker did to volumes only it touches, so that the truth is known: everything acknowledged, and at most one
 * change whose outcome is unknown.
 */
export class ArrayWorker {
  readonly #prefix: string;
  readonly #random: Random;
  readonly #pools: readonly string[];
  readonly #volumes = new Map<string, ModelVolume>();
  #client: ArrayClient;
  #server = '';
  #counter = 0;
  #open: Operation | undefined;
  acknowledged = 0;

  constructor(prefix: string, random: Random, client: ArrayClient, pools: readonly string[]) {
    this.#prefix = prefix;
    this.#random = random;
    this.#client = client;
    this.#pools = pools;
  }

  get initiator(): string {
    return `iqn.2026-11.org.example:${this.#prefix}`;
  }

  async prepare(): Promise<void> {
    const made = await this.#client.servers.create({
      display_name: this.#prefix,
      iqn: this.initiator,
      iscsi: '127.0.0.0/8',
    });
    this.#server = made.server_name;
  }

  /** Makes changes until the connection breaks or `count` are done. */
  async run(count: number): Promise<void> {
    this.#open = undefined;
    for (let made = 0; made < count; made += 1) {
      const operation = this.#choose();
      this.#open = operation;
      try {
        await operation.call();
      } catch (error) {
        // A refusal is an answer: nothing changed. Work that was taken is done sooner or later.
        if (error instanceof ApiError && error.status !== 500) continue;
        if (!(error instanceof StillRunning)) return;
      }
      operation.apply();
      this.acknowledged += 1;
    }
    this.#open = undefined;
  }

  /** Compares the array with the model; a change in doubt may have happened or not. Returns what is wrong. */
  async verify(client: ArrayClient): Promise<string[]> {
    this.#client = client;
    const without = await this.#differences();
    if (without.length === 0 || !this.#open) return without;
    this.#open.apply();
    const withIt = await this.#differences();
    return withIt.length === 0 ? [] : [`in doubt: ${this.#open.name}`, ...without, ...withIt];
  }

  #choose(): Operation {
    const chosen = this.#random.pick([...this.#volumes.keys()]);
    const dice = this.#random.below(100);
    if (chosen === undefined || (dice < 14 && this.#volumes.size < VOLUMES_MAX)) return this.#create();
    const volume = this.#volumes.get(chosen) as ModelVolume;
    if (dice < 36) return this.#write(chosen, volume);
    if (dice < 46) return this.#attachOrDetach(chosen, volume);
    if (dice < 62) return this.#snapshot(chosen, volume);
    if (dice < 70) return this.#clone(chosen, volume);
    if (dice < 76) return this.#migrate(chosen, volume);
    if (dice < 84) return this.#delete(chosen, volume);
    return this.#small(chosen, volume);
  }

  #create(): Operation {
    const name = this.#newName();
    const pool = this.#random.below(this.#pools.length);
    const compress = this.#random.below(4) === 0;
    const isShare = this.#random.below(3) === 0;
    return {
      name: `create ${isShare ? 'share' : 'volume'} ${name}`,
      call: () =>
        this.#client.volumes.create({
          name,
          capacity: 8,
          pool: this.#pools[pool] ?? '',
          block: !isShare,
          compress,
          dedupe: false,
        }),
      apply: () => this.#volumes.set(name, newVolume(pool, isShare)),
    };
  }

  #write(name: string, volume: ModelVolume): Operation {
    if (!volume.attached) return this.#attachOrDetach(name, volume);
    const offset = this.#random.below(BYTES / PIECE) * PIECE;
    const bytes = randomBytes(volume.isShare ? SHARE_PIECE : PIECE);
    return {
      name: `write ${name} at ${offset}`,
      call: async () => (await this.#bytesOf(name)).write(offset, bytes),
      apply: () => {
        volume.content = Buffer.from(volume.content);
        bytes.copy(volume.content, offset);
      },
    };
  }

  #attachOrDetach(name: string, volume: ModelVolume): Operation {
    const { attached } = volume;
    return {
      name: `${attached ? 'detach' : 'attach'} ${name}`,
      call: async () => {
        const id = await this.#idOf(name);
        if (attached) await this.#client.volumes.detach({ id, servers: [this.#server], force: true });
        else await this.#client.servers.attachVolumes({ id: [this.#server], volume_name: [id] });
      },
      apply: () => (volume.attached = !attached),
    };
  }

  #snapshot(name: string, volume: ModelVolume): Operation {
    const oldest = [...volume.snapshots.keys()][0];
    if (oldest !== undefined && (volume.snapshots.size >= SNAPSHOTS_MAX || this.#random.below(3) === 0)) {
      return {
        name: `delete snapshot ${oldest} of ${name}`,
        call: async () => this.#client.snapshots.delete({ snapshot_id: await this.#snapshotOf(name, oldest) }),
        apply: () => volume.snapshots.delete(oldest),
      };
    }
    const snapshot = `s${++this.#counter}`;
    return {
      name: `snapshot ${snapshot} of ${name}`,
      call: async () =>
        this.#client.snapshots.create({ volume_cg_id: await this.#groupOf(name), display_name: snapshot }),
      apply: () => volume.snapshots.set(snapshot, { content: volume.content, megabytes: volume.megabytes }),
    };
  }

  #clone(name: string, volume: ModelVolume): Operation {
    const snapshot = this.#random.pick([...volume.snapshots.keys()]);
    const clone = this.#newName();
    if (this.#volumes.size >= VOLUMES_MAX) return this.#delete(name, volume);
    return {
      name: `clone ${name}${snapshot === undefined ? '' : ` at ${snapshot}`} as ${clone}`,
      call: async () =>
        this.#client.consistencyGroups.clone({
          volume_cg_id: await this.#groupOf(name),
          name: clone,
          ...(snapshot !== undefined && { snapshot: await this.#snapshotOf(name, snapshot) }),
        }),
      apply: () => {
        const { content, megabytes } = (snapshot === undefined ? undefined : volume.snapshots.get(snapshot)) ?? volume;
        this.#volumes.set(clone, { ...newVolume(volume.pool, volume.isShare), megabytes, content });
      },
    };
  }

  #migrate(name: string, volume: ModelVolume): Operation {
    const pool = (volume.pool + 1) % this.#pools.length;
    return {
      name: `migrate ${name} to pool ${pool}`,
      call: async () => {
        const poolname = this.#pools[pool] ?? '';
        const volume_cg_id = await this.#groupOf(name);
        await this.#client.consistencyGroups.migrate({ volume_cg_id, poolname, migratesnap: true });
        const id = await this.#idOf(name);
        await until(async () => (await this.#client.volumes.get({ id })).volume.pool_name === poolname, 'it has moved');
      },
      apply: () => (volume.pool = pool),
    };
  }

  #delete(name: string, volume: ModelVolume): Operation {
    if (volume.attached) return this.#attachOrDetach(name, volume);
    return {
      name: `delete ${name}`,
      call: async () =>
        this.#client.volumes.delete({ id: await this.#idOf(name), force: true, timeout: this.#random.below(2) * 10 }),
      apply: () => this.#volumes.delete(name),
    };
  }

  #small(name: string, volume: ModelVolume): Operation {
    const text = `note ${++this.#counter}`;
    switch (this.#random.below(3)) {
      case 0:
        return {
          name: `comment ${name}`,
          call: async () => this.#client.volumes.updateComment({ id: await this.#idOf(name), new_comment: text }),
          apply: () => (volume.comment = text),
        };
      case 1:
        return {
          name: `expand ${name}`,
          call: async () => this.#client.volumes.expand({ id: await this.#idOf(name), capacity: 4 }),
          apply: () => (volume.megabytes += 4),
        };
      default:
        return {
          name: `tag ${name}`,
          call: async () => this.#client.volumeTags.create({ id: await this.#idOf(name), key: text, value: 'yes' }),
          apply: () => volume.tags.set(text, 'yes'),
        };
    }
  }

  async #differences(): Promise<string[]> {
    const problems: string[] = [];
    const expect = (what: string, found: unknown, wanted: unknown) => {
      if (JSON.stringify(found) !== JSON.stringify(wanted))
        problems.push(`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
    };
    const { volumes } = await this.#client.volumes.list({ display_name: `${this.#prefix}-` });
    expect('volumes', volumes.map((each) => each.display_name).toSorted(), [...this.#volumes.keys()].toSorted());
    if (problems.length > 0) return problems;
    for (const record of volumes) {
      const name = record.display_name;
      const model = this.#volumes.get(name) as ModelVolume;
      expect(`${name} kind`, record.data_type, model.isShare ? 'File-System' : 'BLOCK');
      expect(`${name} comment`, record.comment ?? '', model.comment);
      expect(`${name} size`, record.virtual_capacity * 1024, model.megabytes);
      expect(`${name} pool`, record.pool_name, this.#pools[model.pool]);
      expect(`${name} attached`, record.server_ext_names !== '', model.attached);
      const { tags } = await this.#client.volumeTags.list({ id: record.name });
      expect(`${name} tags`, tags.map(({ key }) => key).toSorted(), [...model.tags.keys()].toSorted());
      const { snapshots } = await this.#client.snapshots.listOfGroup({ volume_cg_id: record.cg_name });
      expect(
        `${name} snapshots`,
        snapshots.map((each) => each.display_name),
        [...model.snapshots.keys()],
      );
      if (model.attached && record.server_ext_names !== '') {
        const content = await (await this.#bytesOf(name)).read(0, BYTES);
        if (!content.equals(model.content)) problems.push(`${name}: its bytes differ`);
      }
    }
    if (problems.length === 0) problems.push(...(await this.#snapshotDifferences()));
    return problems;
  }

  /** One snapshot, by a clone that is gone afterwards. */
  async #snapshotDifferences(): Promise<string[]> {
    const all = [...this.#volumes].flatMap(([name, { snapshots }]) => [...snapshots].map((each) => ({ name, each })));
    const one = this.#random.pick(all);
    if (!one) return [];
    const [snapshot, { content }] = one.each;
    const clone = `look-${this.#prefix}`;
    await this.#client.consistencyGroups.clone({
      volume_cg_id: await this.#groupOf(one.name),
      name: clone,
      snapshot: await this.#snapshotOf(one.name, snapshot),
    });
    const id = await this.#idOf(clone);
    await this.#client.servers.attachVolumes({ id: [this.#server], volume_name: [id] });
    const found = await (await this.#bytesOf(clone)).read(0, BYTES);
    await this.#client.volumes.detach({ id, servers: [this.#server], force: true });
    await this.#client.volumes.delete({ id, timeout: 60 });
    return found.equals(content) ? [] : [`${one.name}: the bytes of snapshot ${snapshot} differ`];
  }

  async #bytesOf(name: string): Promise<Disk | ShareFile> {
    const { name: id, nfs_export_path: path } = await this.#record(name);
    return path === null ? new Disk(this.#client, this.initiator, id) : new ShareFile(path);
  }

  async #record(name: string) {
    const { volumes } = await this.#client.volumes.list({ display_name: name });
    const found = volumes.find((each) => each.display_name === name);
    if (!found) throw new ApiError(10081, `${name} is not there`);
    return found;
  }

  async #idOf(name: string): Promise<string> {
    return (await this.#record(name)).name;
  }

  async #groupOf(name: string): Promise<string> {
    return (await this.#record(name)).cg_name;
  }

  async #snapshotOf(name: string, snapshot: string): Promise<string> {
    const { snapshots } = await this.#client.snapshots.listOfGroup({ volume_cg_id: await this.#groupOf(name) });
    return snapshots.find((each) => each.display_name === snapshot)?.name ?? 'snap-none';
  }

  #newName(): string {
    return `${this.#prefix}-v${++this.#counter}`;
  }
}

function newVolume(pool: number, isShare: boolean): ModelVolume {
  return {
    isShare,
    comment: '',
    megabytes: 8,
    pool,
    attached: false,
    content: Buffer.alloc(BYTES),
    tags: new Map(),
    snapshots: new Map(),
  };
}
