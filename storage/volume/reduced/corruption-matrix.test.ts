import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { randomFrom } from '../../../testing/random.ts';
import { checkPool } from '../../check/check.ts';
import { Pool } from '../../pool/pool.ts';
import { layOut } from '../../raid/layout.ts';
import { AREAS, DAMAGES, EXTENTS, inflict, snapshotOf } from '../../raid/testing/damage.ts';
import type { DamageCase, Snapshot } from '../../raid/testing/damage.ts';
import { GroupRig } from '../../raid/testing/group-rig.ts';

/**
 * The matrix of `storage/raid/corruption-matrix.long.test.ts` for a volume that is compressed and deduplicated: one drive is
 * damaged, something happens, and the volume and its snapshot read as they were flushed. There a wrong block would be a
 * wrong chunk, and a chunk may be in many places. GRANARY_TORTURE=1 runs all cases, by default it is a slice.
 */
const MOMENTS = ['read', 'scrub', 'restart', 'kill'] as const;
const GROUPS = [
  { level: 'RAID1', members: 2 },
  { level: 'RAID6', members: 4 },
] as const;

type MatrixCase = DamageCase & (typeof GROUPS)[number] & { readonly moment: (typeof MOMENTS)[number] };

const STRIPE_BYTES = 16 * 1024;
const DRIVE_BYTES = 9 * 1024 * 1024;
const CHUNK_BYTES = 32 * 1024;
const CHUNKS = 48;

/** A third of all chunks is the same, a third can be compressed, a third cannot. */
function chunkOf(round: number, index: number): Buffer {
  if (index % 3 === 0) return Buffer.alloc(CHUNK_BYTES, `same${round}`);
  if (index % 3 === 1) return Buffer.alloc(CHUNK_BYTES, `chunk ${index} of round ${round} `);
  const random = randomFrom(1000 * round + index);
  return Buffer.from(Uint8Array.from({ length: CHUNK_BYTES }, () => random() * 256));
}

/** A pool with a reduced volume that has some history, and what must be read from it. */
class Scene {
  readonly rig: GroupRig;
  readonly #folder = mkdtempSync(join(tmpdir(), 'granary-matrix-'));
  readonly #file = join(this.#folder, 'pool.db');
  readonly #case: MatrixCase;
  readonly #before: Record<'rolled back' | 'rolled back over a restart', Snapshot> = {
    'rolled back': [],
    'rolled back over a restart': [],
  };
  readonly #volume = Buffer.alloc((CHUNKS + 4) * CHUNK_BYTES);
  #snapshot = Buffer.alloc(0);
  #pool: Pool | undefined;

  constructor(rig: GroupRig, matrixCase: MatrixCase) {
    this.rig = rig;
    this.#case = matrixCase;
  }

  async prepare(): Promise<void> {
    const { rig } = this;
    const pool = await Pool.create({ file: this.#file, id: 'pool', mode: 'simple', groups: [rig.group] });
    this.#pool = pool;
    const options = { compression: true, deduplication: true };
    await pool.volumes.create({ id: 'v', sizeBytes: this.#volume.length, options });
    await this.#write(1, 0, CHUNKS);
    this.#before['rolled back over a restart'] = snapshotOf(rig.drives);
    await this.close();
    await this.reopen();
    await this.#write(2, 8, 16);
    await this.#current.snapshots.take([{ volumeId: 'v', id: 's' }], new Date(0));
    this.#snapshot = Buffer.from(this.#volume);
    this.#before['rolled back'] = snapshotOf(rig.drives);
    await this.#write(3, 12, 20);
  }

  async run(): Promise<void> {
    const { level, members, moment } = this.#case;
    const { rig } = this;
    // Its caches must not help.
    await this.#closePool();
    if (moment === 'restart') await rig.group.close();
    const layout = layOut({ level, stripeBytes: STRIPE_BYTES, memberBytes: DRIVE_BYTES, memberCount: members });
    inflict(rig.drives, layout, this.#case, this.#before);
    if (moment === 'scrub') await rig.group.scrub();
    if (moment === 'restart' || moment === 'kill') await this.reopen();
    else this.#openPool();
  }

  async assertRight(): Promise<void> {
    const into = Buffer.alloc(this.#volume.length, 0xaa);
    await this.#current.volumes.get('v').read(0, into);
    assert.ok(into.equals(this.#volume), 'the volume reads as it was flushed');
    into.fill(0xaa);
    await this.#current.snapshots.open('s').read(0, into);
    assert.ok(into.equals(this.#snapshot), 'the snapshot reads as it was taken');
  }

  async check(): Promise<void> {
    await this.#closePool();
    const { findings } = await checkPool({ file: this.#file, groups: [this.rig.group] });
    assert.deepEqual(findings, []);
    this.#openPool();
  }

  async close(): Promise<void> {
    await this.#closePool();
    await this.rig.group.close();
  }

  async reopen(): Promise<void> {
    await this.rig.reopen();
    this.#openPool();
  }

  async end(): Promise<void> {
    await this.#closePool();
    rmSync(this.#folder, { recursive: true });
  }

  async #write(round: number, first: number, count: number): Promise<void> {
    for (let index = first; index < first + count; index += 1) {
      const chunk = chunkOf(round, index);
      await this.#current.volumes.get('v').write(index * CHUNK_BYTES, chunk);
      chunk.copy(this.#volume, index * CHUNK_BYTES);
    }
    await this.#current.flush();
  }

  get #current(): Pool {
    assert.ok(this.#pool);
    return this.#pool;
  }

  #openPool(): void {
    this.#pool = Pool.open({ file: this.#file, groups: [this.rig.group] });
  }

  async #closePool(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.close();
  }
}

async function check(matrixCase: MatrixCase): Promise<void> {
  const { level, members } = matrixCase;
  const rig = await GroupRig.create({ level, members, stripeBytes: STRIPE_BYTES, driveBytes: DRIVE_BYTES });
  const scene = new Scene(rig, matrixCase);
  try {
    await scene.prepare();
    await scene.run();
    await scene.assertRight();
    await rig.group.rebuilt();
    await rig.group.scrub();
    await rig.group.rebuilt();
    await scene.check();
    await scene.close();
    await scene.reopen();
    assert.equal(rig.group.state().status, 'normal');
    await scene.assertRight();
    await scene.close();
  } finally {
    await scene.end();
  }
}

function* allCases(): Generator<MatrixCase> {
  let count = 0;
  for (const group of GROUPS) {
    // Without a missing drive the journal is not in use.
    for (const area of AREAS.filter((each) => each !== 'journal')) {
      for (const damage of DAMAGES) {
        for (const extent of EXTENTS) {
          for (const moment of MOMENTS) {
            count += 1;
            yield { ...group, area, damage, extent, moment, slot: count % group.members };
          }
        }
      }
    }
  }
}

/** Odd, so that a slice goes through all values of every dimension. */
const SLICE = process.env['GRANARY_TORTURE'] === '1' ? 1 : 53;

describe('one damaged drive never gives wrong bytes of a reduced volume', () => {
  for (const [index, matrixCase] of [...allCases()].entries()) {
    if (index % SLICE !== 0) continue;
    const { level, members, area, damage, extent, moment, slot } = matrixCase;
    it(`${level} of ${members}, drive ${slot}: ${area} ${damage}, ${extent}, before a ${moment}`, () =>
      check(matrixCase));
  }
});
