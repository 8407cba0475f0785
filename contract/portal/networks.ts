import { endpoint, type Group } from '../endpoint.ts';
import { boolean, integer, name, optional, page, recordNumber, text, withDefault } from '../params.ts';
import { bool, int, listOf, record, str } from '../records.ts';
import { success } from '../reply.ts';
import { adminOnly, ownerOnly, signedIn } from './access.ts';

export const Vlan = record('Vlan', {
  default: bool(),
  cloud_id: int(),
  provider_id: int(),
  vlan_id: int(),
  custom_networks: listOf(str()),
  arrays: listOf(str()),
});

export const VirtualNetwork = record('VirtualNetwork', {
  id: int(),
  vlan_id: int(),
  tenant_id: int(),
  provider_id: int(),
  name: str(),
});

const messageReply = success({ message: str() });
const providerId = recordNumber('The provider');
const vlan = integer('VLAN number', { min: 1, max: 4094, example: 1000 });
const vlanOfProvider = { provider_id: providerId, vlan };
const address = (what: string, example: string) => text(what, { max: 64, example });

export const vlans = {
  list: endpoint('GET', '/vlans', {
    summary: 'List the VLANs that providers have',
    access: adminOnly,
    params: page,
    reply: success({ data: listOf(Vlan) }),
  }),
  listAvailable: endpoint('GET', '/vlans/available_vlans_for_provider', {
    summary: 'VLAN numbers a provider could still have',
    access: adminOnly,
    params: { provider_id: providerId },
    reply: success({ data: listOf(int()) }),
    errors: ['not_found'],
  }),
  allocate: endpoint('POST', '/vlans/allocate', {
    summary: 'Give a VLAN to a provider',
    access: adminOnly,
    params: vlanOfProvider,
    reply: messageReply,
    errors: ['not_found', 'in_use'],
  }),
  deallocate: endpoint('POST', '/vlans/deallocate', {
    summary: 'Take an unused VLAN from a provider',
    access: adminOnly,
    params: vlanOfProvider,
    reply: messageReply,
    errors: ['not_found', 'in_use'],
  }),
  setDefault: endpoint('POST', '/vlans/set_as_default', {
    summary: 'Make a VLAN the one new networks of a provider get',
    access: adminOnly,
    params: vlanOfProvider,
    reply: messageReply,
    errors: ['not_found'],
  }),
} satisfies Group;

export const virtualNetworks = {
  list: endpoint('GET', '/virtual_networks', {
    summary: 'List your virtual networks; an administrator sees all',
    access: signedIn,
    params: page,
    reply: success({ data: listOf(VirtualNetwork) }),
  }),
  create: endpoint('POST', '/virtual_networks', {
    summary: 'Add a virtual network for a tenant',
    access: signedIn,
    params: {
      name: name('Name of the network', { example: 'storage' }),
      provider_id: providerId,
      tenant_id: recordNumber('The tenant it belongs to'),
      gateway: optional(address('Gateway, inside the range', '10.20.0.1')),
      gateway_zone_1: optional(address('Gateway in the second zone', '10.20.0.2')),
      ipv6_gateway: optional(address('IPv6 gateway', 'fd00:20::1')),
      ipv6_gateway_zone_1: optional(address('IPv6 gateway in the second zone', 'fd00:20::2')),
      cidr: optional(address('Address range', '10.20.0.0/24')),
      ipv6_cidr: optional(address('IPv6 address range', 'fd00:20::/64')),
      allocatable_ip_ranges: optional(
        text('Addresses Granary may hand out: first-last; a second range, after a comma, is for the second zone', {
          max: 128,
          example: '10.20.0.10-10.20.0.200',
        }),
      ),
      ipv6_allocatable_ip_ranges: optional(
        text('IPv6 addresses Granary may hand out, likewise', { max: 256, example: 'fd00:20::10-fd00:20::ff' }),
      ),
      vlan_id: optional(integer('VLAN; leave it empty to have one chosen', { min: 1, max: 4094, example: 1000 })),
      default_for_tenant: withDefault(boolean('Whether new arrays of the tenant join it by themselves'), false),
      force: withDefault(
        boolean(
          "Administrators only: accept a range that overlaps another network, the cloud's own ranges or addresses of its machine",
        ),
        false,
      ),
    },
    reply: success({ data: VirtualNetwork }),
    errors: ['not_found', 'name_taken', 'overlap', 'in_use', 'limit_reached'],
  }),
  delete: endpoint('DELETE', '/virtual_networks/{id}', {
    summary: 'Remove a virtual network no array is in',
    access: ownerOnly,
    params: { id: recordNumber('The virtual network'), ...vlanOfProvider },
    reply: messageReply,
    errors: ['not_found', 'in_use'],
  }),
} satisfies Group;
