import type { RecordOf } from '@granary/contract';
import type { VirtualNetwork } from '@granary/contract/portal';
import { badParameter, fail, type Tx } from '@granary/kernel';
import { scopeOf, type PortalActor } from '../actor.ts';
import type { Page } from '../paging.ts';
import { tenantOfProvider } from '../tenants/service.ts';
import type { Tools } from '../tools.ts';
import { readPlans, type AddressInput, type AddressPlans } from './addresses/plan.ts';
import { overlaps, subnetOf } from './addresses/subnet.ts';
import * as repository from './repository.ts';
import type { NetworkRow } from './repository.ts';
import type { Vlans } from './vlans/service.ts';
import { namely } from './wording.ts';

export type NetworkView = RecordOf<typeof VirtualNetwork>;

export interface NewNetwork extends AddressInput {
  readonly name: string;
  readonly provider_id: number;
  readonly tenant_id: number;
  readonly vlan_id?: number | undefined;
  readonly default_for_tenant: boolean;
}

interface NetworkToDelete {
  readonly id: number;
  readonly provider_id: number;
  readonly vlan: number;
}

/** Networks of tenants, each on one VLAN of the provider. */
export class Networks {
  readonly #tools: Tools;
  readonly #vlans: Vlans;

  constructor(tools: Tools, vlans: Vlans) {
    this.#tools = tools;
    this.#vlans = vlans;
  }

  list(actor: PortalActor, page: Page): { networks: NetworkView[]; total: number } {
    const scope = scopeOf(actor);
    return this.#tools.store.read((db) => ({
      networks: repository.listNetworks(db, scope, page).map(viewOf),
      total: repository.countNetworks(db, scope),
    }));
  }

  async create(input: NewNetwork, actor: PortalActor): Promise<NetworkView> {
    const { name, provider_id: providerId, tenant_id: tenantId } = input;
    const plans = readPlans(input);
    return this.#tools.store.write((tx) => {
      tenantOfProvider(tx, actor, { tenantId, providerId });
      if (repository.isNameTaken(tx, tenantId, name)) throw fail('name_taken', { name });
      const vlanId = this.#vlans.assign(tx, { providerId, tenantId, wanted: input.vlan_id }, actor);
      refuseOverlap(plans, repository.neighbours(tx, { providerId, tenantId, vlanId }));
      const network = { name, providerId, tenantId, vlanId, defaultForTenant: input.default_for_tenant, ...plans };
      const id = repository.insertNetwork(tx, network);
      this.#record(tx, id, `Virtual network ${name} was added on VLAN ${vlanId}.`, actor);
      return { id, name, vlan_id: vlanId, tenant_id: tenantId, provider_id: providerId };
    });
  }

  /** The caller names provider and VLAN again, so that a wrong number removes nothing. */
  async delete({ id, provider_id: providerId, vlan }: NetworkToDelete, actor: PortalActor): Promise<string> {
    return this.#tools.store.write((tx) => {
      const network = repository.findNetwork(tx, scopeOf(actor), id);
      if (!network) throw fail('not_found', { kind: 'virtual network', id });
      const { name } = network;
      if (network.provider_id !== providerId)
        throw badParameter('provider_id', `must be ${network.provider_id}, the provider of virtual network ${name}`);
      if (network.vlan_id !== vlan)
        throw badParameter('vlan', `must be ${network.vlan_id}, the VLAN of virtual network ${name}`);
      const arrays = repository.arrayNamesIn(tx, id);
      if (arrays.length > 0) {
        const by = `${namely('array', arrays)} in it; remove the interfaces first`;
        throw fail('in_use', { kind: 'Virtual network', id: name, by });
      }
      repository.deleteNetwork(tx, id);
      const title = `Virtual network ${name} was removed from VLAN ${vlan}.`;
      this.#record(tx, id, title, actor);
      return title;
    });
  }

  #record(tx: Tx, id: number, title: string, actor: PortalActor): void {
    this.#tools.events.record(tx, { title, subject: `virtual_network:${id}`, actor: actor.username });
  }
}

function refuseOverlap({ ipv4, ipv6 }: AddressPlans, neighbours: readonly NetworkRow[]): void {
  for (const [field, cidr] of [
    ['cidr', ipv4?.cidr],
    ['ipv6_cidr', ipv6?.cidr],
  ]) {
    if (cidr === undefined) continue;
    const subnet = subnetOf(cidr);
    for (const { name, cidr: theirs, ipv6_cidr: theirs6 } of neighbours) {
      const other = [theirs, theirs6].find((one) => one !== null && overlaps(subnet, subnetOf(one)));
      if (typeof other === 'string')
        throw fail('overlap', { what: `${field} ${cidr}`, other: `${other} of virtual network ${name}` });
    }
  }
}

function viewOf(row: NetworkRow): NetworkView {
  return {
    id: row.id,
    vlan_id: row.vlan_id,
    tenant_id: row.tenant_id,
    provider_id: row.provider_id,
    name: row.name,
  };
}
