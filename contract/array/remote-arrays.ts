import { endpoint, type Group } from '../endpoint.ts';
import { choice, integer, optional, page, secret, text, withDefault } from '../params.ts';
import { listOf, nullable, num, record, str, yesNo } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly, signedIn } from './access.ts';
import { remoteArrayId } from './ids.ts';
import { count } from './shared.ts';

export const RemoteArray = record('RemoteArray', {
  name: str(),
  remote_name: str('Its own internal name'),
  remote_display_name: str(),
  provider: str(),
  software_version: str(),
  uuid: str(),
  ip: str(),
  public: yesNo(),
  vni: nullable(str()),
});

export const RemotePool = record('RemotePool', {
  name: str('What a mirror names as remote_pool'),
  remote_name: str('Its name on the remote array'),
  display_name: str(),
  capacity: num('GB'),
  available_capacity: num('GB'),
});

export const remoteArrays = {
  list: endpoint('GET', '/remote_arrays', {
    summary: 'List the arrays this one can mirror to',
    access: signedIn,
    params: page,
    reply: response({ remote_arrays: listOf(RemoteArray), count }),
  }),
  get: endpoint('GET', '/remote_arrays/{id}', {
    summary: 'Show one remote array',
    access: signedIn,
    params: { id: remoteArrayId },
    reply: response({ remote_array: RemoteArray }),
    errors: ['remote_array_not_found'],
  }),
  discover: endpoint('POST', '/remote_arrays/discover', {
    summary: 'Sign in to another array and make it known for mirroring',
    access: adminOnly,
    params: {
      ip: text('Where its management listens: host or host:port', { max: 255, example: '10.0.0.9' }),
      user: text('A user of that array', { max: 128, example: 'admin' }),
      password: secret('Password of that user', { max: 255, example: 'correct horse' }),
      interface: withDefault(
        choice(
          ['public', 'vni0', 'fe'],
          'Address of this array that connections come from: its public one, that in its first virtual network, or its own',
        ),
        'fe',
      ),
      proxyhost: optional(text('Proxy to go through', { max: 255 })),
      proxyport: optional(integer('Port of the proxy', { min: 1, max: 65_535 })),
      proxytype: optional(
        choice(['http', 'http10', 'socks4_hostname', 'socks5', 'socks4', 'socks4a'], 'What the proxy speaks'),
      ),
      proxyusername: optional(text('User of the proxy', { max: 128 })),
      proxypassword: optional(secret('Password of the proxy', { max: 255 })),
    },
    reply: response({ remote_array_name: str() }),
    errors: ['remote_unreachable', 'remote_refused', 'address_refused', 'state_conflict', 'limit_reached'],
  }),
  delete: endpoint('DELETE', '/remote_arrays/{id}', {
    summary: 'Forget a remote array that has no mirror',
    access: adminOnly,
    params: { id: remoteArrayId },
    reply: response({ remote_array_name: str() }),
    errors: ['remote_array_not_found', 'state_conflict'],
  }),
  listPools: endpoint('GET', '/remote_arrays/{id}/pools', {
    summary: 'List the pools of a remote array',
    access: signedIn,
    params: { id: remoteArrayId, ...page },
    reply: response({ remote_pools: listOf(RemotePool), count }),
    errors: ['remote_array_not_found', 'remote_unreachable'],
  }),
} satisfies Group;
