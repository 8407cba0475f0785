import { badParameter, fail, parseHostAndPort, type Changes, type Tx } from '@granary/kernel';
import type { ArrayId } from '../../ids.ts';
import { scopeOf, type PortalActor } from '../../actor.ts';
import type { ArrayStates } from '../states.ts';
import type { Tools } from '../../tools.ts';
import * as repository from './repository.ts';
import { publicServiceView, type PublicServiceView } from './view.ts';

export interface ServiceInput {
  readonly account_name: string;
  readonly admin_username: string;
  readonly admin_password: string;
  readonly ip: string;
  readonly host: string;
  readonly auto_approve: boolean;
}

export type ServiceChange = { readonly [K in keyof ServiceInput]?: ServiceInput[K] | undefined };

/** Signing up for object storage costs nothing by itself; what is stored there is billed by the array. */
const PRICE_OF_SERVICE = '0';

/** The offer of an object storage array to people who have no portal account of their own. */
export class PublicServiceService {
  readonly #tools: Tools;
  readonly #states: ArrayStates;

  constructor(tools: Tools, states: ArrayStates) {
    this.#tools = tools;
    this.#states = states;
  }

  get(actor: PortalActor, arrayId: ArrayId): PublicServiceView {
    return this.#tools.store.read((db) => {
      const { name } = this.#states.existing(db, arrayId, scopeOf(actor));
      const service = repository.findPublicService(db, arrayId);
      if (!service) throw fail('not_found', { kind: 'public object service of array', id: name });
      return publicServiceView(service);
    });
  }

  async create(actor: PortalActor, arrayId: ArrayId, input: ServiceInput): Promise<PublicServiceView> {
    checkPlace(input.ip);
    await this.#tools.store.write((tx) => {
      const { name } = this.#objectStorage(tx, actor, arrayId);
      const known = repository.findPublicService(tx, arrayId);
      if (known)
        throw fail('in_use', {
          kind: 'Array',
          id: name,
          by: `its public object service is there already, as ${known.host}`,
        });
      repository.insertPublicService(tx, { arrayId, ...this.#values(input), price: PRICE_OF_SERVICE });
      this.#record(tx, arrayId, `The public object service of array ${name} was opened.`, actor);
    });
    return this.get(actor, arrayId);
  }

  async update(actor: PortalActor, arrayId: ArrayId, change: ServiceChange): Promise<PublicServiceView> {
    if (change.ip !== undefined) checkPlace(change.ip);
    this.get(actor, arrayId);
    await this.#tools.store.write((tx) => {
      const { name } = this.#objectStorage(tx, actor, arrayId);
      repository.updatePublicService(tx, arrayId, this.#changed(change));
      this.#record(tx, arrayId, `The public object service of array ${name} was changed.`, actor);
    });
    return this.get(actor, arrayId);
  }

  async delete(actor: PortalActor, arrayId: ArrayId): Promise<void> {
    this.get(actor, arrayId);
    await this.#tools.store.write((tx) => {
      const { name } = this.#states.existing(tx, arrayId, scopeOf(actor));
      repository.deletePublicService(tx, arrayId);
      this.#record(tx, arrayId, `The public object service of array ${name} was withdrawn.`, actor);
    });
  }

  #objectStorage(tx: Tx, actor: PortalActor, arrayId: ArrayId) {
    const array = this.#states.require(tx, arrayId, scopeOf(actor), 'its public object service', [
      'created',
      'hibernated',
    ]);
    if (array.product !== 'object_storage') {
      throw fail('not_object_storage', { name: array.name });
    }
    return array;
  }

  #values(input: ServiceInput): repository.ServiceValues {
    return {
      accountName: input.account_name,
      username: input.admin_username,
      passwordSealed: this.#tools.vault.seal(input.admin_password),
      ip: input.ip,
      host: input.host,
      autoApprove: input.auto_approve,
    };
  }

  #changed(change: ServiceChange): Changes<repository.ServiceValues> {
    const { admin_password: password } = change;
    return {
      accountName: change.account_name,
      username: change.admin_username,
      passwordSealed: password === undefined ? undefined : this.#tools.vault.seal(password),
      ip: change.ip,
      host: change.host,
      autoApprove: change.auto_approve,
    };
  }

  #record(tx: Tx, arrayId: ArrayId, title: string, actor: PortalActor): void {
    this.#tools.events.record(tx, { title, subject: `array:${arrayId}`, actor: actor.username });
    this.#states.touch(tx, arrayId);
  }
}

function checkPlace(ip: string): void {
  const place = parseHostAndPort(ip, 0);
  const octets = place?.host.split('.').map(Number) ?? [];
  if (!place || octets.some((octet) => octet > 255)) throw badParameter('ip', 'must be ip:port');
}
