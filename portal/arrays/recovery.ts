import type { ArraySpec, HostedArray } from '@granary/contract/cloud';
import { badParameter, type Tx } from '@granary/kernel';
import type { ArrayId, CloudId, UserId } from '../ids.ts';
import type { PortalActor } from '../actor.ts';
import type { CloudService } from '../clouds/service.ts';
import { listProvidersOfCloud } from '../providers/repository.ts';
import type { Tools } from '../tools.ts';
import { findUserByUuid } from '../users/repository.ts';
import type { ArrayLifecycle } from './lifecycle.ts';
import * as repository from './repository.ts';
import type { ArrayStates } from './states.ts';

interface Parts {
  readonly tools: Tools;
  readonly clouds: CloudService;
  readonly states: ArrayStates;
  readonly lifecycle: ArrayLifecycle;
}

export interface RecoveredArray {
  readonly id: ArrayId;
  readonly name: string;
  readonly owner: string;
  /** What could not be brought back with it. */
  readonly note: string;
}

const NAMES_TRIED_MAX = 1000;

/**
 * Takes arrays on record that a cloud hosts and the portal does not know: after an older copy of the portal's database
 * was restored, those that were made since. They belong to their owner again, who is found by an
 * id and not by a name that another may have by now; else to the administrator who asks.
 */
export class ArrayRecovery {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async recover(cloudId: CloudId, actor: PortalActor): Promise<RecoveredArray[]> {
    const { clouds, tools } = this.#parts;
    await clouds.claimed(cloudId);
    const link = clouds.link(cloudId);
    const { data } = await link.hostedArrays.list();
    const recovered: RecoveredArray[] = [];
    for (const hosted of data) {
      if (hosted.state === 'removing' || tools.store.read((db) => repository.isKnown(db, hosted.uuid))) continue;
      const { data: spec } = await link.hostedArrays.spec({ uuid: hosted.uuid });
      recovered.push(await tools.store.write((tx) => this.#record(tx, { cloudId, hosted, spec, actor })));
    }
    return recovered;
  }

  #record(
    tx: Tx,
    found: { cloudId: CloudId; hosted: HostedArray; spec: ArraySpec; actor: PortalActor },
  ): RecoveredArray {
    const { tools, states, lifecycle } = this.#parts;
    const { cloudId, hosted, spec, actor } = found;
    const {
      product,
      name,
      owner,
      owner_uuid: ownerUuid,
      owner_id: _ownerId,
      provider: _provider,
      initial_passcode,
      internal_key,
      interfaces,
      public_service: service,
      locked_down: isLockedDown = false,
      ...kept
    } = spec;
    const provider = listProvidersOfCloud(tx, cloudId)[0];
    if (!provider) throw badParameter('id', 'names a cloud that no provider sells; create a provider for it first');
    const user = ownerUuid === undefined ? undefined : findUserByUuid(tx, ownerUuid);
    const ownerId = user?.id ?? actor.userId;
    const freeName = this.#freeName(tx, ownerId, name);
    const id = repository.insertArray(tx, {
      uuid: hosted.uuid,
      name: freeName,
      description: null,
      statusMessage: 'Found at its cloud',
      product,
      ownerId,
      providerId: provider.id,
      cloudId,
      spec: kept,
      initialPasscodeSealed: tools.vault.seal(initial_passcode),
      internalKeySealed: tools.vault.seal(internal_key),
      createdAt: tools.clock.now(),
    });
    repository.setPlacement(tx, id, hosted);
    repository.setLockedDown(tx, id, isLockedDown);
    const isStopped = hosted.desired === 'stopped';
    states.move(tx, id, {
      status: isStopped ? 'hibernated' : 'restoring',
      progress: isStopped ? 100 : 0,
      event: `Array ${freeName} was found at its cloud and is on record again.`,
      severity: 'warning',
      actor: actor.username,
    });
    if (!isStopped) lifecycle.start(tx, 'array.restore', id);
    const notes = [
      ...(user ? [] : [`its owner ${owner} is not on record; it is yours now`]),
      ...(freeName === name ? [] : [`its name ${name} is taken`]),
      ...(service ? ['its public object service is withdrawn; open it again'] : []),
      ...(interfaces.length > 0 ? [`it has left ${interfaces.length} virtual networks; join them again`] : []),
    ];
    return { id, name: freeName, owner: user?.username ?? actor.username, note: notes.join('; ') };
  }

  #freeName(tx: Tx, ownerId: UserId, name: string): string {
    for (let n = 1; n < NAMES_TRIED_MAX; n++) {
      const tried = n === 1 ? name : `${name}-${n}`;
      if (!repository.findArrayByName(tx, ownerId, tried)) return tried;
    }
    throw badParameter('id', `names a cloud with too many arrays called ${name}`);
  }
}
