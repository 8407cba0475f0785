import { PROXIES_MAX } from '@granary/contract/cloud';
import type { RequestKind } from '@granary/contract/portal';
import { badParameter, badParameters, fail, GranaryError, type Db, type FieldProblem, type Tx } from '@granary/kernel';
import type { ArrayId, NetworkId, RequestId } from '../ids.ts';
import { isAdmin, scopeOf, type PortalActor } from '../actor.ts';
import type { CloudService } from '../clouds/service.ts';
import { interfacesOfArray, type InterfaceService } from '../networks/index.ts';
import type { PortalRequest } from '../requests/request.ts';
import type { RequestService } from '../requests/service.ts';
import type { Tools } from '../tools.ts';
import { applyChange, describeChange, type Change } from './changes.ts';
import { checkComputeLimits } from './compute-limits.ts';
import { deletable, type ArrayDeletions } from './deletions.ts';
import type { ArrayLifecycle } from './lifecycle.ts';
import type { PortalArray } from './array.ts';
import type { ObjectsConnection } from './objects-connection.ts';
import { refuseServedAddresses } from './public-services/place.ts';
import { setLockedDown } from './repository.ts';
import { checkStock, isFlash, problemsOf } from './rules.ts';
import type { ArrayStates } from './states.ts';

interface Parts {
  readonly tools: Tools;
  readonly clouds: CloudService;
  readonly requests: RequestService;
  readonly interfaces: InterfaceService;
  readonly states: ArrayStates;
  readonly lifecycle: ArrayLifecycle;
  readonly deletions: ArrayDeletions;
  readonly connection: Pick<ObjectsConnection, 'policyName'>;
}

const CHANGE_WAIT_MS = 5000;
/** The form of the names that the array's own interface gives its storage policies. */
const POLICY_ID = /^policy-[0-9a-f]{8}$/i;

/** The changes an administrator decides on; the others are the owner's own affair. */
const moderatedChanges = [
  'change_engine',
  'change_cache',
  'add_drives',
  'add_storage_policy',
  'add_proxy_controller',
] as const satisfies readonly RequestKind[];
type ModeratedChange = (typeof moderatedChanges)[number];

const ATTACHING = 'adding a network interface';
/** Its process may be down for the moment: the cloud tells it when it is up. */
const changeable = ['created', 'starting'] as const;
const lockable = ['created', 'starting', 'hibernated', 'failed'] as const;

/** What an owner does with an array that exists. Each answers with a sentence for the owner. */
export class ArrayService {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.requests.register(moderatedChanges, { execute: (tx, request) => this.#executeChange(tx, request) });
    parts.requests.register(['join_network'], { execute: (tx, request) => this.#executeJoin(tx, request) });
    parts.requests.register(['delete_array'], { execute: (tx, request) => this.#executeDelete(tx, request) });
  }

  setEngine(actor: PortalActor, id: ArrayId, engine: string, appEngine: string): Promise<string> {
    return this.#moderated(actor, id, 'change_engine', { type: 'engine', engine, appEngine }, 'storage_array');
  }

  setCache(actor: PortalActor, id: ArrayId, extraCacheGb: number): Promise<string> {
    return this.#moderated(actor, id, 'change_cache', { type: 'cache', extraCacheGb }, 'storage_array');
  }

  async addDrives(
    actor: PortalActor,
    id: ArrayId,
    drives: Readonly<Record<string, number>>,
    policy: string | undefined,
  ): Promise<string> {
    const array = this.#existing(actor, id);
    if (array.product !== 'object_storage') return this.#moderated(actor, id, 'add_drives', { type: 'drives', drives });
    if (policy === undefined) throw badParameter('storage_policy', 'is required for object storage');
    const named = await this.#policyNamed(array, policy);
    return this.#moderated(actor, id, 'add_drives', { type: 'drives', drives, policy: named });
  }

  /** By the name it was ordered with, or by the one the array's own interface gives it. */
  async #policyNamed(array: PortalArray, named: string): Promise<string> {
    const names = array.spec.policies.map(({ name }) => name);
    const isKnown = (one: string | undefined) => one !== undefined && names.includes(one);
    const found =
      isKnown(named) || !POLICY_ID.test(named) ? named : await this.#parts.connection.policyName(array, named);
    const spelt = isKnown(found) ? found : names.find((one) => one.toLowerCase() === found?.toLowerCase());
    if (spelt === undefined) throw badParameter('storage_policy', `must be one of ${names.join(', ')}`);
    return spelt;
  }

  async addStoragePolicy(
    actor: PortalActor,
    id: ArrayId,
    policy: Omit<Extract<Change, { type: 'policy' }>, 'type'>,
  ): Promise<string> {
    const { spec } = this.#existing(actor, id);
    if (spec.policies.some(({ name }) => name === policy.name)) throw fail('name_taken', { name: policy.name });
    return this.#moderated(actor, id, 'add_storage_policy', { type: 'policy', ...policy }, 'object_storage');
  }

  async addProxyController(actor: PortalActor, id: ArrayId, zoneId: number): Promise<string> {
    const { cloudId, spec, name } = this.#existing(actor, id, 'object_storage');
    if (spec.proxy_zones.length >= PROXIES_MAX) throw fail('proxies_limit', { name, max: PROXIES_MAX });
    const { zones } = await this.#parts.clouds.freshInventory(cloudId);
    const zone = zones.find((one) => one.id === zoneId);
    if (!zone) throw badParameter('allocation_zone_id', `must be one of ${zones.map((one) => one.id).join(', ')}`);
    return this.#moderated(actor, id, 'add_proxy_controller', { type: 'proxy', zone: zone.name }, 'object_storage');
  }

  async setPublicIp(actor: PortalActor, id: ArrayId, wanted: boolean): Promise<string> {
    const { tools, states } = this.#parts;
    const { name, publicIp: address } = this.#existing(actor, id);
    if (wanted && address !== null)
      throw fail('in_use', { kind: 'The public address of', id: name, by: `it has ${address} already` });
    if (!wanted && address === null) throw fail('not_found', { kind: 'public address of array', id: name });
    const message = await this.#own(actor, id, (tx) => {
      if (!wanted) refuseServedAddresses(tx, states.existing(tx, id), [address]);
      return { type: 'public_ip', wanted };
    });
    // No field of the record shows it, so the answer does.
    const given = tools.store.read((db) => states.existing(db, id)).publicIp;
    return wanted && given !== null ? `${message} The address is ${given}.` : message;
  }

  async setDataReduction(actor: PortalActor, id: ArrayId, enabled: boolean): Promise<string> {
    const array = this.#existing(actor, id, 'storage_array');
    // Spinning drives may have come later: what is on can always be switched off.
    const isSwitchedOff = !enabled && array.spec.data_reduction;
    if (!isSwitchedOff && !isFlash(array.spec, await this.#parts.clouds.freshInventory(array.cloudId))) {
      throw fail('reduction_needs_flash', { name: array.name });
    }
    return this.#own(actor, id, { type: 'data_reduction', enabled });
  }

  async enableFileLifecycle(actor: PortalActor, id: ArrayId): Promise<string> {
    const { name, cloudId } = this.#existing(actor, id, 'storage_array');
    const { file_lifecycle: isOffered } = await this.#parts.clouds.freshInventory(cloudId);
    if (!isOffered) throw fail('lifecycle_not_offered', { name });
    return this.#own(actor, id, { type: 'file_lifecycle' });
  }

  /**
   * The record says so at once, and from then on the portal refuses; an array that runs follows when its cloud has told it,
   * one that does not with its next start.
   */
  async setLockedDown(actor: PortalActor, id: ArrayId, locked: boolean): Promise<string> {
    const { tools, states, lifecycle } = this.#parts;
    const change = { type: 'lock_down', locked } as const;
    const { array, jobId } = await tools.store.write((tx) => {
      const found = states.requireState(tx, id, null, describeChange(change), lockable);
      if (found.isLockedDown === locked) return { array: found, jobId: undefined };
      setLockedDown(tx, id, locked);
      states.touch(tx, id);
      const title = `Array ${found.name} was ${locked ? 'locked down: it takes no changes' : 'released: it takes changes again'}.`;
      tools.events.record(tx, { title, subject: `array:${id}`, severity: 'notice', actor: actor.username });
      const isUp = found.status === 'created' || found.status === 'starting';
      return { array: found, jobId: isUp ? lifecycle.start(tx, 'array.change', id, { change }) : undefined };
    });
    if (jobId !== undefined) return this.#outcome(array, describeChange(change), jobId);
    return `Array ${array.name} is ${locked ? 'locked down' : 'not locked down'}.`;
  }

  async addInterface(actor: PortalActor, id: ArrayId, networkId: NetworkId): Promise<string> {
    const { tools, interfaces, requests } = this.#parts;
    const array = this.#existing(actor, id);
    const network = tools.store.read((db) => interfaces.checkJoin(db, id, networkId));
    const args = { virtual_network_id: networkId, network };
    const filing = { kind: 'join_network', name: array.name, arrayId: id, arguments: args, moderate: false } as const;
    const { decided, requestId, jobId } = await requests.file(actor, filing);
    return decided ? this.#outcome(array, ATTACHING, jobId as number) : waitsFor(requestId);
  }

  /** The address is taken in the transaction that starts the work: no other array can get it in between. */
  #executeJoin(tx: Tx, request: PortalRequest): number {
    const { states, lifecycle, interfaces } = this.#parts;
    const { id } = states.require(tx, request.arrayId as number, null, ATTACHING, changeable);
    const { id: interfaceId } = interfaces.reserveAddress(tx, id, request.arguments['virtual_network_id'] as number);
    return lifecycle.start(tx, 'array.change', id, { change: { type: 'attach_interface', interfaceId } });
  }

  removeInterfaces(actor: PortalActor, id: ArrayId, interfaceIds: readonly number[]): Promise<string> {
    return this.#own(actor, id, (tx) => {
      const known = interfacesOfArray(tx, id).filter(({ attached }) => attached);
      const unknown = interfaceIds.find((one) => !known.some((array) => array.id === one));
      if (unknown !== undefined) throw fail('not_found', { kind: 'interface', id: unknown });
      const removed = known.filter((one) => interfaceIds.includes(one.id));
      const addresses = removed.flatMap((one) => [one.address, one.ipv6Address]);
      refuseServedAddresses(tx, this.#parts.states.existing(tx, id), addresses);
      return { type: 'detach_interfaces', interfaceIds };
    });
  }

  async hibernate(actor: PortalActor, id: ArrayId): Promise<string> {
    const { tools, states, lifecycle } = this.#parts;
    const { name } = await tools.store.write((tx) => {
      const array = this.#requireForStop(tx, actor, id, 'hibernating', changeable);
      states.move(tx, id, {
        status: 'hibernating',
        progress: 0,
        event: `Array ${array.name} is being hibernated.`,
        actor: actor.username,
      });
      lifecycle.start(tx, 'array.hibernate', id);
      return array;
    });
    return `Array ${name} is being put into hibernating state.`;
  }

  async restore(actor: PortalActor, id: ArrayId): Promise<string> {
    const { tools, states, lifecycle } = this.#parts;
    const { name } = await tools.store.write((tx) => {
      const array = this.#requireForStop(tx, actor, id, 'restoring', ['hibernated', 'starting', 'failed']);
      if (array.numberInCloud === null) {
        throw fail('array_never_placed', { name: array.name });
      }
      states.move(tx, id, {
        status: 'restoring',
        progress: 0,
        event: `Array ${array.name} is being restored.`,
        actor: actor.username,
      });
      lifecycle.start(tx, 'array.restore', id);
      return array;
    });
    return `Array ${name} is restoring.`;
  }

  async delete(actor: PortalActor, id: ArrayId): Promise<string> {
    const { tools, states, requests, deletions } = this.#parts;
    const array = tools.store.read((db) => states.existing(db, id, scopeOf(actor)));
    if (array.status === 'creating') return this.#withdraw(actor, array);
    tools.store.read((db) => states.require(db, id, scopeOf(actor), 'deleting', deletable));
    // What was never placed holds no data: deleting it needs no approval.
    if (array.numberInCloud === null) {
      await tools.store.write((tx) => deletions.begin(tx, id, actor.username));
      return `Array ${array.name} is being deleted.`;
    }
    const filing = { kind: 'delete_array', name: array.name, arrayId: id, arguments: {}, moderate: false } as const;
    const { decided, requestId } = await requests.file(actor, filing);
    return decided ? `Array ${array.name} is being deleted.` : waitsFor(requestId);
  }

  /** An order that is not approved yet holds nothing: it is removed at once. */
  async #withdraw(actor: PortalActor, { id, name }: PortalArray): Promise<string> {
    const { tools, states, requests } = this.#parts;
    await tools.store.write((tx) => {
      const isWithdrawn = requests.withdrawOfArray(tx, id, actor.username);
      if (!isWithdrawn) states.require(tx, id, scopeOf(actor), 'deleting', deletable);
    });
    return `The order of array ${name} was withdrawn.`;
  }

  #executeDelete(tx: Tx, request: PortalRequest): number {
    return this.#parts.deletions.begin(tx, request.arrayId as number, 'system');
  }

  #executeChange(tx: Tx, request: PortalRequest): number {
    const { states, lifecycle } = this.#parts;
    const change = request.arguments['change'] as Change;
    const array = states.require(tx, request.arrayId as number, null, describeChange(change), changeable);
    const { id } = array;
    this.#checkCompute(tx, array, change);
    return lifecycle.start(tx, 'array.change', id, { change });
  }

  /** A change an administrator decides on. */
  async #moderated(
    actor: PortalActor,
    id: ArrayId,
    kind: ModeratedChange,
    change: Change,
    product?: PortalArray['product'],
  ): Promise<string> {
    const { requests } = this.#parts;
    const array = this.#existing(actor, id, product);
    await this.#check(array, change);
    this.#parts.tools.store.read((db) => this.#checkCompute(db, array, change));
    const filing = { kind, name: array.name, arrayId: id, arguments: { change }, moderate: false } as const;
    const { decided, requestId, jobId } = await requests.file(actor, filing);
    return decided ? this.#outcome(array, describeChange(change), jobId as number) : waitsFor(requestId);
  }

  #checkCompute(db: Db, { id: arrayId, ownerId, providerId, cloudId }: PortalArray, change: Change): void {
    if (change.type !== 'engine') return;
    const wanted = { ownerId, providerId, arrayId, appEngine: change.appEngine };
    checkComputeLimits(db, wanted, this.#parts.clouds.existing(db, cloudId).inventory);
  }

  /** A change that is the owner's own affair. */
  async #own(actor: PortalActor, id: ArrayId, change: Change | ((tx: Tx) => Change)): Promise<string> {
    const { tools, states, lifecycle } = this.#parts;
    const started = await tools.store.write((tx) => {
      const array = states.require(tx, id, scopeOf(actor), 'changing it', changeable);
      const made = typeof change === 'function' ? change(tx) : change;
      return { array, made, jobId: lifecycle.start(tx, 'array.change', id, { change: made }) };
    });
    return this.#outcome(started.array, describeChange(started.made), started.jobId);
  }

  /** What can be refused now is refused now, with the parameter named; the cloud has the last word later. */
  async #check(array: PortalArray, change: Change): Promise<void> {
    const inventory = await this.#parts.clouds.freshInventory(array.cloudId);
    const problems = problemsOf(array.product, applyChange(array.spec, change), inventory);
    if (problems.length > 0) throw badParameters(problems.map((problem) => asParameterOf(change, problem)));
    if (change.type !== 'drives' && change.type !== 'policy') return;
    this.#parts.clouds.refuseClosedDriveTypes(array.cloudId, change.drives);
    const zone = array.product === 'storage_array' ? (array.zones[0] ?? array.spec.zone) : array.spec.zone;
    checkStock(array.product, zone, change.drives, inventory);
  }

  async #outcome({ name }: PortalArray, what: string, jobId: number): Promise<string> {
    const job = await this.#parts.tools.jobs.wait(jobId, CHANGE_WAIT_MS);
    if (job?.state === 'failed') throw new GranaryError('not_supported', job.error ?? 'The change failed.');
    return job?.state === 'done'
      ? `Array ${name}: ${what} is done.`
      : `Array ${name}: ${what} has been submitted and goes on.`;
  }

  /** An administrator may also stop and start an array that is locked down; that stays so. */
  #requireForStop(
    tx: Tx,
    actor: PortalActor,
    id: ArrayId,
    action: string,
    needed: readonly PortalArray['status'][],
  ): PortalArray {
    const { states } = this.#parts;
    if (isAdmin(actor)) return states.requireState(tx, id, scopeOf(actor), action, needed);
    return states.require(tx, id, scopeOf(actor), action, needed);
  }

  #existing(actor: PortalActor, id: ArrayId, product?: PortalArray['product']): PortalArray {
    const { tools, states } = this.#parts;
    const array = tools.store.read((db) => states.require(db, id, scopeOf(actor), 'changing it', changeable));
    if (product !== undefined && array.product !== product) {
      throw fail(product === 'object_storage' ? 'not_object_storage' : 'not_block_storage', { name: array.name });
    }
    return array;
  }
}

/** A smaller engine meets drives and cache that are there already: the parameter that is wrong is the engine. */
function asParameterOf(change: Change, { field, message }: FieldProblem): FieldProblem {
  const isOwn = change.type !== 'engine' || field === 'engine' || field === 'app_engine';
  return isOwn ? { field, message } : { field: 'engine', message: `is too small: ${field} ${message}` };
}

function waitsFor(requestId: RequestId): string {
  return `Request ${requestId} was submitted and waits for an administrator's approval.`;
}
