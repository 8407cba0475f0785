import { ConnectionError } from '@granary/client';
import type { HostedArray } from '@granary/contract/cloud';
import { ChangeDetector, type ChangeFeed, type Tx } from '@granary/kernel';
import type { CloudId } from '../ids.ts';
import { findCloud, listClouds, setSeenAt } from '../clouds/repository.ts';
import type { CloudService } from '../clouds/service.ts';
import type { InterfaceService } from '../networks/index.ts';
import type { Tools } from '../tools.ts';
import type { ArrayLifecycle } from './lifecycle.ts';
import { listDrives, withReturned } from './changes.ts';
import type { PortalArray } from './array.ts';
import { isKnown, listPlaced, setPlacement, setSpec } from './repository.ts';
import { OutageAccounting, type Look } from './outages.ts';
import type { ArrayStates } from './states.ts';

const WATCH_MS = 3000;
const RECORD_MS = 60_000;

interface Parts {
  readonly tools: Tools;
  readonly clouds: CloudService;
  readonly states: ArrayStates;
  readonly lifecycle: ArrayLifecycle;
  readonly interfaces: InterfaceService;
  readonly changes: ChangeFeed;
}

/** Looks at the clouds every few seconds, so that an array that died, or came back, is shown as it is. */
export class ArrayWatcher {
  readonly #parts: Parts;
  readonly #outages: OutageAccounting;
  /** When each cloud was last looked at, and when that was last put on record. */
  readonly #polls = new Map<number, { at: number; recordedAt: number }>();
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> = Promise.resolve();
  #stopped = false;
  readonly #namedUnknown = new Set<number>();
  readonly #silentSince = new Map<number, number>();
  readonly #detectors = new Map<number, ChangeDetector>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#outages = new OutageAccounting(parts.tools, parts.states);
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#polling = this.poll().finally(() => {
        this.start();
      });
    }, WATCH_MS).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#polling;
    for (const [cloudId, { at }] of this.#polls)
      await this.#recordLook(cloudId, at, 0).catch((error: unknown) =>
        this.#parts.tools.log.warn({ error }, 'when the clouds were last seen could not be recorded'),
      );
  }

  async poll(): Promise<void> {
    const { store, log } = this.#parts.tools;
    try {
      await this.#parts.clouds.claimAll();
      const clouds = store.read((db) => listClouds(db, false, { start: 0, limit: 0 }));
      await Promise.all(clouds.map(({ id, name }) => this.#pollCloudQuietly(id, name)));
    } catch (error) {
      log.error({ error }, 'could not look at the clouds');
    }
  }

  /** Since when a cloud does not answer; undefined while it does. */
  silentSince(id: CloudId): number | undefined {
    return this.#silentSince.get(id);
  }

  /** Silence of a cloud is not death of its arrays. */
  async #pollCloudQuietly(id: CloudId, cloud: string): Promise<void> {
    const { log } = this.#parts.tools;
    try {
      await this.#pollCloud(id);
      this.#silentSince.delete(id);
    } catch (error) {
      if (!this.#silentSince.has(id)) this.#silentSince.set(id, this.#parts.tools.clock.now());
      if (error instanceof ConnectionError) log.debug({ cloud, reason: error.message }, 'a cloud does not answer');
      else log.warn({ error, cloud }, 'could not look at a cloud');
    }
  }

  async #pollCloud(cloudId: CloudId): Promise<void> {
    const { tools, clouds } = this.#parts;
    const before = new Map(tools.store.read((db) => listPlaced(db, cloudId)).map(({ id, status }) => [id, status]));
    const { data } = await clouds.link(cloudId).hostedArrays.list();
    const poll = this.#pollOf(cloudId);
    const byUuid = new Map(data.map((hosted) => [hosted.uuid, hosted]));
    await this.#nameUnknown(cloudId, data);
    await tools.store.write((tx) => {
      for (const array of listPlaced(tx, cloudId)) {
        // The answer is older than this moment: it says nothing of an array that has been worked on since.
        const isUntouched = before.get(array.id) === array.status && !tools.jobs.isBusy(tx, `array:${array.id}`);
        if (isUntouched) this.#follow(tx, array, byUuid.get(array.uuid), poll);
      }
    });
    await this.#recordLook(cloudId, poll.at, RECORD_MS);
    this.#detectorOf(cloudId).compare(() => ({ arrays: data.map(withoutAges) }));
  }

  #detectorOf(cloudId: CloudId): ChangeDetector {
    const detector = this.#detectors.get(cloudId) ?? new ChangeDetector(this.#parts.changes);
    this.#detectors.set(cloudId, detector);
    return detector;
  }

  /** After an older copy of the database was restored, arrays that were made since are named once a start. */
  async #nameUnknown(cloudId: CloudId, hosted: readonly HostedArray[]): Promise<void> {
    const { store, events } = this.#parts.tools;
    if (this.#namedUnknown.has(cloudId)) return;
    this.#namedUnknown.add(cloudId);
    const unknown = hosted.filter(({ uuid, state }) => state !== 'removing' && !store.read((db) => isKnown(db, uuid)));
    if (unknown.length === 0) return;
    const names = unknown.map(({ internal_name }) => internal_name).join(', ');
    const title = `Cloud ${cloudId} hosts arrays that are not on record: ${names}. Take them back with \`granary clouds recover-arrays ${cloudId}\`.`;
    await store.write((tx) => events.record(tx, { title, subject: `cloud:${cloudId}`, severity: 'error' }));
  }

  #pollOf(cloudId: CloudId): Look {
    const { store, clock } = this.#parts.tools;
    return {
      at: clock.now(),
      before: this.#polls.get(cloudId)?.at ?? store.read((db) => findCloud(db, cloudId))?.seenAt ?? null,
    };
  }

  /** Not each time: what is lost of it in a crash is at most a minute, and to the customer's advantage. */
  async #recordLook(cloudId: CloudId, at: number, everyMs: number): Promise<void> {
    const recordedAt = this.#polls.get(cloudId)?.recordedAt ?? -Infinity;
    const isDue = at - recordedAt >= everyMs;
    this.#polls.set(cloudId, { at, recordedAt: isDue ? at : recordedAt });
    if (isDue) await this.#parts.tools.store.write((tx) => setSeenAt(tx, cloudId, at));
  }

  #follow(tx: Tx, array: PortalArray, hosted: HostedArray | undefined, poll: Look): void {
    const { states, lifecycle, interfaces } = this.#parts;
    if (hosted) {
      this.#followPlacement(tx, array, hosted);
      this.#recordReturns(tx, array, hosted);
      if (interfaces.recordBindings(tx, array.id, hosted.interfaces)) states.touch(tx, array.id);
      this.#outages.follow(tx, array, hosted, poll);
    }
    if ((array.status === 'created' || array.status === 'starting') && (!hosted || hosted.state === 'failed')) {
      const message = hosted ? (hosted.reason ?? 'Its process keeps ending') : 'Its cloud no longer has it';
      const event = `Array ${array.name} failed: ${message}`;
      states.move(tx, array.id, { status: 'failed', message, progress: 0, event, severity: 'error' });
    }
    if (array.status === 'failed' && hosted?.state === 'running') {
      // By the same way a restore takes, so that everything about it is set right.
      const event = `Array ${array.name} answers again.`;
      states.move(tx, array.id, { status: 'restoring', progress: 50, event });
      lifecycle.start(tx, 'array.restore', array.id);
    }
  }

  /** A cloud that serves over TLS from now on, or no longer, has other addresses; one with more memory has more cache. */
  #followPlacement(tx: Tx, array: PortalArray, hosted: HostedArray): void {
    if (array.managementUrl === null) return;
    const isSame = array.managementUrl === hosted.management_url && array.cacheMb === (hosted.cache_mb ?? null);
    if (isSame) return;
    setPlacement(tx, array.id, hosted);
    this.#parts.states.touch(tx, array.id);
  }

  /** What its administrator gave back is no longer the array's, nor on its bill. */
  #recordReturns(tx: Tx, array: PortalArray, hosted: HostedArray): void {
    const { tools, states } = this.#parts;
    const heard = array.spec.drives_returned ?? {};
    const drives = Object.entries(hosted.drives_returned).some(([type, count]) => heard[type] !== count);
    const proxies = hosted.proxies_returned !== (array.spec.proxies_returned ?? 0);
    if (!drives && !proxies && hosted.storage_controllers === array.storageControllers) return;
    const spec = withReturned(array.spec, hosted);
    setSpec(tx, array.id, spec);
    setPlacement(tx, array.id, hosted);
    states.touch(tx, array.id);
    const recordEvent = (what: string) =>
      tools.events.record(tx, {
        title: `Array ${array.name} ${what}`,
        subject: `array:${array.id}`,
        severity: 'notice',
      });
    if (drives) recordEvent(`gave drives back; it has ${listDrives(spec.drives)} now.`);
    if (proxies) recordEvent(`gave proxy controllers back; it has ${spec.proxy_zones.length} now.`);
  }
}

/** How long ago something was is different at every look, and changes nothing that is shown. */
function withoutAges({ outages: _, encryption: __, ...hosted }: HostedArray) {
  return hosted;
}
