import { badParameter, fail, type Db, type Page, type Tx } from '@granary/kernel';
import type { NetworkId, ProviderId } from '../ids.ts';
import { isAdmin, scopeOf, type PortalActor } from '../actor.ts';
import { networksPerUser } from '../settings/networks-per-user.ts';
import { tenantOfProvider } from '../tenants/service.ts';
import type { Tenant } from '../tenants/tenant.ts';
import type { Tools } from '../tools.ts';
import { readPlans, type AddressInput, type AddressPlans } from './addresses/plan.ts';
import { overlaps, subnetOf } from './addresses/subnet.ts';
import { providersOfSameCloud, reservedRanges } from './cloud-of-provider.ts';
import { arraysInNetwork } from './interfaces/repository.ts';
import * as repository from './repository.ts';
import { networkView, type NetworkView } from './view.ts';
import type { ArrayNames } from './network.ts';
import type { VlanService } from './vlans/service.ts';
import { namely } from './wording.ts';

export interface NewNetwork extends AddressInput {
  readonly name: string;
  readonly provider_id: number;
  readonly tenant_id: number;
  readonly vlan_id?: number | undefined;
  readonly default_for_tenant: boolean;
  readonly force: boolean;
}

/** 65,536 addresses: three of /8 would be all private ones. */
const USERS_PREFIX_MIN = 16;

interface NetworkToDelete {
  readonly id: NetworkId;
  readonly provider_id: number;
  readonly vlan: number;
}

interface NetworkParts {
  readonly tools: Tools;
  readonly vlans: VlanService;
  /** Reads anew what the cloud of a provider keeps for itself. */
  readonly refreshCloud: (providerId: ProviderId) => Promise<void>;
  readonly arrayNames: ArrayNames;
}

/** Networks of tenants, each on one VLAN of the provider. */
export class NetworkService {
  readonly #tools: Tools;
  readonly #vlans: VlanService;
  readonly #refreshCloud: NetworkParts['refreshCloud'];
  readonly #arrayNames: ArrayNames;

  constructor({ tools, vlans, refreshCloud, arrayNames }: NetworkParts) {
    this.#tools = tools;
    this.#vlans = vlans;
    this.#refreshCloud = refreshCloud;
    this.#arrayNames = arrayNames;
  }

  list(actor: PortalActor, page: Page): { networks: NetworkView[]; total: number } {
    const scope = scopeOf(actor);
    return this.#tools.store.read((db) => ({
      networks: repository.listNetworks(db, scope, page).map(networkView),
      total: repository.countNetworks(db, scope),
    }));
  }

  async create(input: NewNetwork, actor: PortalActor): Promise<NetworkView> {
    const { name, provider_id: providerId, tenant_id: tenantId } = input;
    const plans = readPlans(input);
    if (input.force && !isAdmin(actor)) throw badParameter('force', 'is for administrators only');
    this.#tools.store.read((db) => tenantOfProvider(db, actor, { tenantId, providerId }));
    await this.#refreshCloud(providerId);
    return this.#tools.store.write((tx) => {
      const tenant = tenantOfProvider(tx, actor, { tenantId, providerId });
      if (repository.isNameTaken(tx, tenantId, name)) throw fail('name_taken', { name });
      if (!isAdmin(actor)) refuseShare(tx, tenant, plans);
      const vlanId = this.#vlans.assign(tx, { providerId, tenantId, wanted: input.vlan_id }, actor);
      if (!input.force) refuseOverlap(plans, takenRanges(tx, providerId, actor));
      const network = {
        name,
        providerId,
        tenantId,
        vlanId,
        defaultForTenant: input.default_for_tenant,
        forced: input.force,
        ...plans,
      };
      const id = repository.insertNetwork(tx, network);
      this.#record(tx, id, `Virtual network ${name} was added on VLAN ${vlanId}.`, actor);
      return networkView({ id, name, vlanId, tenantId, providerId });
    });
  }

  /** The caller names provider and VLAN again, so that a wrong number removes nothing. */
  async delete({ id, provider_id: providerId, vlan }: NetworkToDelete, actor: PortalActor): Promise<string> {
    return this.#tools.store.write((tx) => {
      const network = repository.findNetwork(tx, scopeOf(actor), id);
      if (!network) throw fail('not_found', { kind: 'virtual network', id });
      const { name } = network;
      if (network.providerId !== providerId)
        throw badParameter('provider_id', `must be ${network.providerId}, the provider of virtual network ${name}`);
      if (network.vlanId !== vlan)
        throw badParameter('vlan', `must be ${network.vlanId}, the VLAN of virtual network ${name}`);
      const arrays = [...this.#arrayNames(tx, arraysInNetwork(tx, id)).values()];
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

  #record(tx: Tx, id: NetworkId, title: string, actor: PortalActor): void {
    this.#tools.events.record(tx, { title, subject: `virtual_network:${id}`, actor: actor.username });
  }
}

/** All of a cloud share its VLANs and its addresses: what one user takes of them has a limit that administrators set. */
function refuseShare(db: Db, { userId, providerId }: Tenant, { ipv4 }: AddressPlans): void {
  if (ipv4 && subnetOf(ipv4.cidr).prefix < USERS_PREFIX_MIN)
    throw badParameter(
      'cidr',
      `must have a prefix of /${USERS_PREFIX_MIN} or longer; an administrator may add larger ones`,
    );
  const most = networksPerUser(db);
  if (repository.countNetworksOfUser(db, userId, providersOfSameCloud(db, providerId)) < most) return;
  throw fail('networks_of_user_limit', { max: most });
}

interface TakenRange {
  readonly range: string;
  /** As the caller may see it. */
  readonly what: string;
}

/** Ranges that can be used only once: the machine has each address once, and VLANs are not separated on it. */
function takenRanges(db: Db, providerId: ProviderId, actor: PortalActor): TakenRange[] {
  const networks = repository
    .networksAtProviders(db, providersOfSameCloud(db, providerId))
    .flatMap(({ name, cidr, ipv6Cidr: cidr6, ownerId: owner }) =>
      [cidr, cidr6]
        .filter((range) => range !== null)
        .map((range) => {
          const isShown = isAdmin(actor) || owner === actor.userId;
          return { range, what: isShown ? `${range} of virtual network ${name}` : 'a range that is taken' };
        }),
    );
  const reserved = reservedRanges(db, providerId).map((range) => ({
    range,
    what: isAdmin(actor) ? `${range}, which the cloud or its machine has` : 'a range that is taken',
  }));
  return [...networks, ...reserved];
}

function refuseOverlap({ ipv4, ipv6 }: AddressPlans, taken: readonly TakenRange[]): void {
  for (const [field, cidr] of [
    ['cidr', ipv4?.cidr],
    ['ipv6_cidr', ipv6?.cidr],
  ]) {
    if (cidr === undefined) continue;
    const subnet = subnetOf(cidr);
    const other = taken.find(({ range }) => overlaps(subnet, subnetOf(range)));
    if (other) throw fail('overlap', { what: `${field} ${cidr}`, other: other.what });
  }
}
