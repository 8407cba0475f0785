import { badParameter, fail, type Db, type Page, type Tx } from '@granary/kernel';
import type { ProviderId, TenantId } from '../../ids.ts';
import { isAdmin, type PortalActor } from '../../actor.ts';
import type { Tools } from '../../tools.ts';
import { cloudOfProvider } from '../cloud-of-provider.ts';
import type { ArrayNames } from '../network.ts';
import { namely } from '../wording.ts';
import * as repository from './repository.ts';
import { namesByVlan, vlanView, type VlanView } from './view.ts';
import type { NameOnVlan, ProviderVlans, Vlan } from './vlan.ts';

interface VlanOfProvider {
  readonly provider_id: number;
  readonly vlan: number;
}

/** Where a new network goes: the VLAN is a wish. */
interface NetworkPlace {
  readonly providerId: ProviderId;
  readonly tenantId: TenantId;
  readonly wanted: number | undefined;
}

/** Numbers an Ethernet frame can carry; 0 and 4095 are reserved. */
const VLAN_MIN = 1;
const VLAN_MAX = 4094;

/** Which provider has which VLAN of its cloud. A VLAN belongs to one provider at a time. */
export class VlanService {
  readonly #tools: Tools;
  readonly #arrayNames: ArrayNames;

  constructor(tools: Tools, arrayNames: ArrayNames) {
    this.#tools = tools;
    this.#arrayNames = arrayNames;
  }

  list(page: Page): { vlans: VlanView[]; total: number } {
    return this.#tools.store.read((db) => {
      const networks = namesByVlan(repository.networkNamesOfPage(db, page));
      const arrays = namesByVlan(this.#arraysOnVlans(db, page));
      const vlans = repository.listVlans(db, page);
      return { vlans: vlans.map((vlan) => vlanView(vlan, networks, arrays)), total: repository.countVlans(db) };
    });
  }

  #arraysOnVlans(db: Db, page: Page): NameOnVlan[] {
    const found = repository.arraysOfPage(db, page);
    const names = this.#arrayNames(
      db,
      found.map(({ arrayId }) => arrayId),
    );
    return found.map(({ cloudId, vlanId, arrayId }) => ({ cloudId, vlanId, name: names.get(arrayId) ?? '' }));
  }

  listAvailable(providerId: ProviderId): number[] {
    return this.#tools.store.read((db) => freeVlans(db, providerVlans(db, providerId)));
  }

  async allocate({ provider_id: providerId, vlan }: VlanOfProvider, actor: PortalActor): Promise<string> {
    return this.#tools.store.write((tx) => {
      const provider = providerVlans(tx, providerId);
      const { vlanFirst: first, vlanLast: last, cloudName: cloud } = provider;
      if (vlan < first || vlan > last)
        throw badParameter('vlan', `must be one of ${first}-${last}, the VLANs of cloud ${cloud}`);
      const taken = repository.findVlan(tx, provider.cloudId, vlan);
      const owner = taken && cloudOfProvider(tx, taken.providerId);
      if (owner) throw fail('in_use', { kind: 'VLAN', id: vlan, by: `provider ${owner.name} has it` });
      this.#allocate(tx, provider, vlan, actor);
      return `The request has been submitted for processing: VLAN ${vlan} goes to provider ${provider.name}.`;
    });
  }

  async deallocate({ provider_id: providerId, vlan }: VlanOfProvider, actor: PortalActor): Promise<string> {
    return this.#tools.store.write((tx) => {
      const provider = providerVlans(tx, providerId);
      const { cloudId } = vlanOfProvider(tx, provider, vlan);
      const networks = repository.networkNamesOn(tx, providerId, vlan);
      if (networks.length > 0)
        throw fail('in_use', { kind: 'VLAN', id: vlan, by: `${namely('network', networks)} on it and must go first` });
      repository.deleteVlan(tx, cloudId, vlan);
      this.#record(tx, provider, vlan, `VLAN ${vlan} was taken from provider ${provider.name}.`, actor);
      return `The request has been submitted for processing: VLAN ${vlan} leaves provider ${provider.name}.`;
    });
  }

  async setDefault({ provider_id: providerId, vlan }: VlanOfProvider, actor: PortalActor): Promise<string> {
    return this.#tools.store.write((tx) => {
      const provider = providerVlans(tx, providerId);
      repository.setDefaultVlan(tx, vlanOfProvider(tx, provider, vlan));
      const title = `VLAN ${vlan} is now the default of provider ${provider.name}.`;
      this.#record(tx, provider, vlan, title, actor);
      return title;
    });
  }

  /**
   * The VLAN a new network goes on. Users are kept apart: only an administrator puts a network on a VLAN where
   * another user has one. Without a wish it is the provider's default, else one of the provider's that is empty,
   * else the cloud's next free one, which the provider then has.
   */
  assign(tx: Tx, { providerId, tenantId, wanted }: NetworkPlace, actor: PortalActor): number {
    const provider = providerVlans(tx, providerId);
    if (wanted === undefined) return this.#choose(tx, provider, tenantId, actor);
    const isProviders = repository.findVlan(tx, provider.cloudId, wanted)?.providerId === providerId;
    const isOthers = !isAdmin(actor) && repository.isSharedVlan(tx, providerId, wanted, tenantId);
    // One answer for both: where others have networks is not for users to learn.
    if (!isProviders || isOthers) {
      const free = `a VLAN that provider ${provider.name} has and that can be had`;
      throw badParameter('vlan_id', `must be ${free}; leave it out to be given one`);
    }
    return wanted;
  }

  #choose(tx: Tx, provider: ProviderVlans, tenantId: TenantId, actor: PortalActor): number {
    const preset = repository.findDefaultVlan(tx, provider.id);
    if (preset !== undefined && !repository.isSharedVlan(tx, provider.id, preset, tenantId)) return preset;
    const empty = repository.findEmptyVlan(tx, provider);
    if (empty !== undefined) return empty;
    const [next] = freeVlans(tx, provider);
    if (next === undefined) {
      const range = `${provider.vlanFirst}-${provider.vlanLast} of cloud ${provider.cloudName}`;
      const by = 'none is free for another network; delete a network or take a VLAN from another provider first';
      throw fail('in_use', { kind: 'VLAN range', id: range, by });
    }
    this.#allocate(tx, provider, next, actor);
    return next;
  }

  #allocate(tx: Tx, provider: ProviderVlans, vlan: number, actor: PortalActor): void {
    repository.insertVlan(tx, { cloudId: provider.cloudId, vlanId: vlan, providerId: provider.id });
    this.#record(tx, provider, vlan, `VLAN ${vlan} was given to provider ${provider.name}.`, actor);
  }

  #record(tx: Tx, { cloudId }: ProviderVlans, vlan: number, title: string, actor: PortalActor): void {
    this.#tools.events.record(tx, { title, subject: `vlan:${cloudId}/${vlan}`, actor: actor.username });
  }
}

function providerVlans(db: Db, providerId: ProviderId): ProviderVlans {
  const provider = cloudOfProvider(db, providerId);
  if (!provider) throw fail('not_found', { kind: 'provider', id: providerId });
  const { name, cloudId, cloudName, inventory } = provider;
  const { vlans } = inventory;
  return { id: providerId, name, cloudId, cloudName, vlanFirst: vlans?.first ?? 1, vlanLast: vlans?.last ?? 0 };
}

function vlanOfProvider(db: Db, provider: ProviderVlans, vlan: number): Vlan {
  const known = repository.findVlan(db, provider.cloudId, vlan);
  if (known?.providerId !== provider.id)
    throw fail('not_found', { kind: 'VLAN', id: `${vlan} at provider ${provider.name}` });
  return known;
}

function freeVlans(db: Db, { cloudId, vlanFirst: first, vlanLast: last }: ProviderVlans): number[] {
  const taken = new Set(repository.allocatedVlans(db, cloudId));
  const free: number[] = [];
  for (let vlan = Math.max(first, VLAN_MIN); vlan <= Math.min(last, VLAN_MAX); vlan++)
    if (!taken.has(vlan)) free.push(vlan);
  return free;
}
