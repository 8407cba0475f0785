import { endpoint, type Access, type Api, type Group } from './endpoint.ts';
import { boolean, name, optional, text, withDefault } from './params.ts';
import { int, nullable, record, str, utc } from './records.ts';
import { response } from './reply.ts';

/** The portal that an array belongs to, by the key the two have in common; no key of a user opens this. */
const portalOnly: Access = { roles: ['portal'] };

const DelegatedKey = record('DelegatedKey', {
  id: str('Names the key where it is dropped or looked up, and opens nothing'),
  key: str('Acts as the user, as X-Access-Key, over connections of the portal'),
  username: str(),
  role: str(),
  account_id: nullable(str('Object storage')),
  account_name: nullable(str('Object storage')),
  expires_at: utc('The latest it is good for'),
  idle_seconds: int('Without a request for so long it ends earlier'),
});

const delegatedKeys = {
  create: endpoint('POST', '/delegated_keys', {
    summary: 'Make a short-lived key that acts as a user of the array',
    access: portalOnly,
    params: {
      username: name('The user', { example: 'dana' }),
      account: optional(
        text('Object storage: an account to administer where the array itself has no such user', {
          max: 64,
          example: '0123456789abcdef0123456789abcdef',
        }),
      ),
      for_session: withDefault(
        boolean('Whether a browser is behind it, which sees secrets only where it asks for them', { example: true }),
        false,
      ),
      of_array: withDefault(boolean('Whether it may be a user of the whole array; false: of the account alone'), true),
    },
    reply: response({ delegated_key: DelegatedKey }),
    errors: ['no_array_user'],
    // Who wants to free space on a full disk signs in first.
    frees: true,
  }),
  check: endpoint('GET', '/delegated_keys/{id}', {
    summary: 'Tell whether a key is still good',
    access: portalOnly,
    params: { id: text('The key', { max: 64, example: 'Zm9vYmFyYmF6' }) },
    reply: response({}),
    errors: ['delegated_key_unknown'],
  }),
  delete: endpoint('DELETE', '/delegated_keys/{id}', {
    summary: 'Drop a key; one that is gone already is dropped',
    access: portalOnly,
    params: { id: text('The key', { max: 64, example: 'Zm9vYmFyYmF6' }) },
    reply: response({}),
  }),
} satisfies Group;

/** What a portal asks of its arrays for people who come through it. Declared like the rest, though no person calls it. */
export const delegatedKeyApi = {
  name: 'delegated-keys',
  title: 'Granary portal and its arrays',
  description: 'How a portal acts at an array as one of its users.',
  dialect: 'array',
  groups: { delegatedKeys },
} as const satisfies Api;
