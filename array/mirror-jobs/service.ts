import type { RecordOf } from '@granary/contract';
import type { MirrorJob } from '@granary/contract/array';
import { badParameter, fail } from '@granary/kernel';
import type { PoolService } from '../pools/service.ts';
import type { RemoteArrayService } from '../remote-arrays/service.ts';
import type { SnapshotPolicyService } from '../snapshot-policies/service.ts';
import type { SnapshotService } from '../snapshots/service.ts';
import type { ArrayTools } from '../tools.ts';
import { findVolume } from '../volumes/repository.ts';
import type { VolumeService } from '../volumes/service.ts';
import { MirrorDestinations } from './destinations.ts';
import { listDestinations, listSources, removeBrokenBefore } from './repository.ts';
import type { DestinationMirror, MirrorStanding, SourceMirror } from './mirror.ts';
import { MirrorSources } from './sources.ts';
import { destinationView, sourceView } from './view.ts';

type MirrorView = RecordOf<typeof MirrorJob>;

interface Neighbours {
  readonly pools: PoolService;
  readonly volumes: VolumeService;
  readonly snapshots: SnapshotService;
  readonly snapshotPolicies: SnapshotPolicyService;
  readonly remoteArrays: RemoteArrayService;
}

const KEEP_BROKEN_MS = 7 * 24 * 3600 * 1000;
const REMOVE_BROKEN_EVERY_MS = 3600 * 1000;

/** Mirrors between this array and others, whichever end is here. */
export class MirrorService {
  readonly sources: MirrorSources;
  readonly destinations: MirrorDestinations;
  readonly #tools: ArrayTools;
  readonly #neighbours: Neighbours;
  #timer: NodeJS.Timeout | undefined;

  constructor(tools: ArrayTools, neighbours: Neighbours) {
    this.#tools = tools;
    this.#neighbours = neighbours;
    this.sources = new MirrorSources(tools, neighbours);
    this.destinations = new MirrorDestinations(tools, neighbours);
  }

  list(start: number, limit: number): { mirrors: MirrorView[]; count: number } {
    const [sources, destinations] = this.#tools.store.read((db) => [listSources(db), listDestinations(db)] as const);
    const all = [
      ...sources.filter(({ state }) => state !== 'abandoned').map((mirror) => () => this.#sourceView(mirror)),
      ...destinations.filter(isShown).map((mirror) => () => this.#destinationView(mirror)),
    ];
    const page = all.slice(start, limit === 0 ? undefined : start + limit);
    return { mirrors: page.map((view) => view()), count: all.length };
  }

  /** What is watched of each mirror, whichever end is here. */
  standings(): MirrorStanding[] {
    const [sources, destinations] = this.#tools.store.read((db) => [listSources(db), listDestinations(db)] as const);
    return [
      ...sources.filter(({ state }) => state !== 'abandoned').map((mirror) => standingOf('source', mirror)),
      ...destinations.filter(isShown).map((mirror) => standingOf('destination', mirror)),
    ];
  }

  /** Not found: `job_not_found`. */
  get(name: string): MirrorView {
    const source = this.sources.get(name);
    if (source) return this.#sourceView(source);
    const destination = this.destinations.get(name);
    if (destination && isShown(destination)) return this.#destinationView(destination);
    throw fail('job_not_found', { id: name });
  }

  pause(name: string, actor: string): Promise<void> {
    this.#refuseDestination(name, 'pause it');
    return this.sources.pause(name, actor);
  }

  continue(name: string, actor: string): Promise<void> {
    this.#refuseDestination(name, 'continue it');
    return this.sources.continue(name, actor);
  }

  setRateLimit(name: string, kilobytes: number, actor: string): Promise<void> {
    this.#refuseDestination(name, 'limit its rate');
    return this.sources.setRateLimit(name, kilobytes, actor);
  }

  break(name: string, inherited: boolean, actor: string): Promise<void> {
    this.get(name);
    const destination = this.destinations.get(name);
    const volume = destination ? destination.volume : this.sources.get(name)?.volume;
    const kind = this.#tools.store.read((db) => findVolume(db, volume ?? ''))?.kind;
    if (inherited && kind === 'file') throw badParameter('inherited', 'is for block volumes: a share has no WWID');
    return destination
      ? this.destinations.break(destination, inherited, actor)
      : this.sources.break(name, inherited, actor);
  }

  async reconcile(): Promise<void> {
    await this.sources.reconcile();
    await this.destinations.reconcile();
    await this.#removeOldBroken();
  }

  start(): void {
    this.sources.start();
    this.#timer = setInterval(() => {
      this.#removeOldBroken().catch((error: unknown) => {
        this.#tools.log.warn({ error }, 'old mirrors could not be removed');
      });
    }, REMOVE_BROKEN_EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.sources.stop();
  }

  #removeOldBroken(): Promise<void> {
    const { store, clock } = this.#tools;
    return store.write((tx) => {
      removeBrokenBefore(tx, clock.now() - KEEP_BROKEN_MS);
    });
  }

  #sourceView(mirror: SourceMirror): MirrorView {
    const volume = this.#tools.store.read((db) => findVolume(db, mirror.volume));
    // A broken one is shown as it was: what it was of may be another thing by now.
    const isLive = mirror.state !== 'broken' && volume !== undefined;
    const present = isLive ? { cg_name: volume.consistencyGroup, cg_display_name: volume.displayName } : {};
    return sourceView(
      { ...mirror, ...present },
      this.#around(mirror.volume, this.sources.problem(mirror.name) !== undefined),
    );
  }

  #destinationView(mirror: DestinationMirror): MirrorView {
    return destinationView(mirror, this.#around(mirror.volume, this.destinations.isSilent(mirror.name)));
  }

  #around(volume: string | null, isCutOff: boolean) {
    const { provider, display_name } = this.#neighbours.remoteArrays.self;
    const found = volume === null ? undefined : this.#tools.store.read((db) => findVolume(db, volume));
    return { provider, arrayName: display_name, sizeBytes: found?.sizeBytes ?? 0, isCutOff };
  }

  #refuseDestination(name: string, what: string): void {
    this.get(name);
    if (!this.destinations.get(name)) return;
    throw fail('mirror_destination_here', { name, what });
  }
}

function standingOf(role: MirrorStanding['role'], mirror: SourceMirror | DestinationMirror): MirrorStanding {
  const { name, displayName, state, baseTakenAt } = mirror;
  return { role, name, displayName, state, baseTakenAt };
}

function isShown({ state }: DestinationMirror): boolean {
  return state !== 'creating' && state !== 'deleting';
}
