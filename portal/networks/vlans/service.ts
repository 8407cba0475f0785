import type { RecordOf } from '@granary/contract';
import type { Vlan } from '@granary/contract/portal';
import { badParameter, fail, type Db, type Tx } from '@granary/kernel';
import { isAdmin, type PortalActor } from '../../actor.ts';
import type { Page } from '../../paging.ts';
import type { Tools } from '../../tools.ts';
import { namely } from '../wording.ts';
import * as repository from './repository.ts';
import type { NameOnVlan, ProviderVlans, VlanRow } from './repository.ts';

type VlanView = RecordOf<typeof Vlan>;

interface VlanOfProvider {
  readonly provider_id: number;
  readonly vlan: number;
}

/** Where a new network goes: the VLAN is a wish. */
interface NetworkPlace {
  readonly providerId: number;
  readonly tenantId: number;
  readonly wanted: number | undefined;
}

/** Numbers an Ethernet frame can carry; 0 and 4095 are reserved. */
const VLAN_MIN = 1;
const VLAN_MAX = 4094;

/** Which provider has which VLAN of its cloud. A VLAN belongs to one provider at a time. */
export class Vlans {
  readonly #tools: Tools;

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  list(page: Page): { vlans: VlanView[]; total: number } {
    return this.#tools.store.read((db) => {
      const networks = namesByVlan(repository.networkNamesOfPage(db, page));
      const arrays = namesByVlan(repository.arrayNamesOfPage(db, page));
      const rows = repository.listVlans(db, page);
      return { vlans: rows.map((row) => viewOf(row, networks, arrays)), total: repository.countVlans(db) };
    });
  }

  listAvailable(providerId: number): number[] {
    return this.#tools.store.read((db) => freeVlans(db, providerVlans(db, providerId)));
  }

  async allocate({ provider_id: providerId, vlan }: VlanOfProvider, actor: PortalActor): Promise<string> {
    return this.#tools.store.write((tx) => {
      const provider = providerVlans(tx, providerId);
      const { vlan_first: first, vlan_last: last, cloud_name: cloud } = provider;
      if (vlan < first || vlan > last)
        throw badParameter('vlan', `must be one of ${first}-${last}, the VLANs of cloud ${cloud}`);
      const taken = repository.findVlan(tx, provider.cloud_id, vlan);
      if (taken) throw fail('in_use', { kind: 'VLAN', id: vlan, by: `provider ${taken.provider_name} has it` });
      this.#give(tx, provider, vlan, actor);
      return `The request has been submitted for processing: VLAN ${vlan} goes to provider ${provider.name}.`;
    });
  }

  async deallocate({ provider_id: providerId, vlan }: VlanOfProvider, actor: PortalActor): Promise<string> {
    return this.#tools.store.write((tx) => {
      const provider = providerVlans(tx, providerId);
      const { cloud_id: cloudId } = vlanOfProvider(tx, provider, vlan);
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
    const isProviders = repository.findVlan(tx, provider.cloud_id, wanted)?.provider_id === providerId;
    const isOthers = !isAdmin(actor) && repository.isSharedVlan(tx, providerId, wanted, tenantId);
    // One answer for both: where others have networks is not for users to learn.
    if (!isProviders || isOthers) {
      const free = `a VLAN that provider ${provider.name} has and that can be had`;
      throw badParameter('vlan_id', `must be ${free}; leave it out to be given one`);
    }
    return wanted;
  }

  #choose(tx: Tx, provider: ProviderVlans, tenantId: number, actor: PortalActor): number {
    const preset = repository.findDefaultVlan(tx, provider.id);
    if (preset !== undefined && !repository.isSharedVlan(tx, provider.id, preset, tenantId)) return preset;
    const empty = repository.findEmptyVlan(tx, provider);
    if (empty !== undefined) return empty;
    const [next] = freeVlans(tx, provider);
    if (next === undefined) {
      const range = `${provider.vlan_first}-${provider.vlan_last} of cloud ${provider.cloud_name}`;
      const by = 'none is free for another network; delete a network or take a VLAN from another provider first';
      throw fail('in_use', { kind: 'VLAN range', id: range, by });
    }
    this.#give(tx, provider, next, actor);
    return next;
  }

  #give(tx: Tx, provider: ProviderVlans, vlan: number, actor: PortalActor): void {
    repository.insertVlan(tx, { cloudId: provider.cloud_id, vlanId: vlan, providerId: provider.id });
    this.#record(tx, provider, vlan, `VLAN ${vlan} was given to provider ${provider.name}.`, actor);
  }

  #record(tx: Tx, { cloud_id: cloudId }: ProviderVlans, vlan: number, title: string, actor: PortalActor): void {
    this.#tools.events.record(tx, { title, subject: `vlan:${cloudId}/${vlan}`, actor: actor.username });
  }
}

function providerVlans(db: Db, providerId: number): ProviderVlans {
  const provider = repository.findProviderVlans(db, providerId);
  if (!provider) throw fail('not_found', { kind: 'provider', id: providerId });
  return provider;
}

function vlanOfProvider(db: Db, provider: ProviderVlans, vlan: number): VlanRow {
  const row = repository.findVlan(db, provider.cloud_id, vlan);
  if (row?.provider_id !== provider.id)
    throw fail('not_found', { kind: 'VLAN', id: `${vlan} at provider ${provider.name}` });
  return row;
}

function freeVlans(db: Db, { cloud_id: cloudId, vlan_first: first, vlan_last: last }: ProviderVlans): number[] {
  const taken = new Set(repository.allocatedVlans(db, cloudId));
  const free: number[] = [];
  for (let vlan = Math.max(first, VLAN_MIN); vlan <= Math.min(last, VLAN_MAX); vlan++)
    if (!taken.has(vlan)) free.push(vlan);
  return free;
}

type NamesByVlan = ReadonlyMap<string, string[]>;

function namesByVlan(rows: readonly NameOnVlan[]): NamesByVlan {
  const names = new Map<string, string[]>();
  for (const row of rows) {
    const known = names.get(keyOf(row));
    if (known) known.push(row.name);
    else names.set(keyOf(row), [row.name]);
  }
  return names;
}

function keyOf({ cloud_id: cloudId, vlan_id: vlanId }: Pick<VlanRow, 'cloud_id' | 'vlan_id'>): string {
  return `${cloudId}/${vlanId}`;
}

function viewOf(row: VlanRow, networks: NamesByVlan, arrays: NamesByVlan): VlanView {
  return {
    default: row.is_default === 1,
    cloud_id: row.cloud_id,
    provider_id: row.provider_id,
    vlan_id: row.vlan_id,
    custom_networks: networks.get(keyOf(row)) ?? [],
    arrays: arrays.get(keyOf(row)) ?? [],
  };
}
