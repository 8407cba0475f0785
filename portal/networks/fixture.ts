import type { TestContext } from 'node:test';
import type { Tx } from '@granary/kernel';
import type { PortalActor } from '../actor.ts';
import { placeOfArray } from '../arrays/place.ts';
import { namesOfArrays } from '../arrays/repository.ts';
import { Fixture } from '../tenants/fixture.ts';
import { InterfaceService } from './interfaces/service.ts';
import { NetworkService, type NewNetwork } from './service.ts';
import type { NetworkView } from './view.ts';
import { VlanService } from './vlans/service.ts';

export const allRecords = { start: 0, limit: 0 };

/** Two users and an administrator at one provider of a cloud with ten VLANs, 1000 to 1009. */
export async function networkFixture(context: TestContext) {
  const fixture = new Fixture(context);
  const vlans = new VlanService(fixture.tools, namesOfArrays);
  const networks = new NetworkService({
    tools: fixture.tools,
    vlans,
    refreshCloud: () => Promise.resolve(),
    arrayNames: namesOfArrays,
  });
  const cloudId = await fixture.cloud('here');
  const local = await fixture.provider('local', cloudId);
  let names = 0;
  const add = (owner: PortalActor, network: Partial<NewNetwork> = {}, actor = owner): Promise<NetworkView> => {
    const providerId = network.provider_id ?? local;
    const own = { provider_id: providerId, tenant_id: fixture.tenantOf(owner, providerId) };
    return networks.create(
      { name: `network-${++names}`, default_for_tenant: false, force: false, ...own, ...network },
      actor,
    );
  };
  return {
    fixture,
    vlans,
    networks,
    interfaces: new InterfaceService(fixture.tools, placeOfArray),
    cloudId,
    local,
    admin: await fixture.user('admin', 'admin'),
    ann: await fixture.user('ann'),
    bob: await fixture.user('bob'),
    /** A network of the owner, with what the test says of it. */
    add,
    write: <T>(work: (tx: Tx) => T): Promise<T> => fixture.tools.store.write(work),
  };
}
