import { endpoint, type Group } from '../endpoint.ts';
import { boolean, integer, list, optional, page, secret, text, withDefault } from '../params.ts';
import { int, listOf, nullable, record, str, utc, yesNo } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly, signedIn } from './access.ts';
import { count } from './shared.ts';

export const NasUser = record('NasUser', {
  username: str(),
  nfs_uid: nullable(int()),
  smb: yesNo(),
  groupname: nullable(str('Primary group')),
  groups: listOf(str('Name of a further group')),
  created_at: utc(),
  modified_at: utc(),
});

export const NasGroup = record('NasGroup', {
  groupname: str(),
  nfs_gid: nullable(int()),
  smb: yesNo(),
  created_at: utc(),
  modified_at: utc(),
});

const NAME_FORM = 'letters, digits, dots, dashes and underscores, with a letter or an underscore first';
/** As Unix and Windows both take them. */
const account = (description: string, example: string, aliases: string[] = []) =>
  text(description, { max: 32, pattern: '^[A-Za-z_][A-Za-z0-9_.-]*$', form: NAME_FORM, example, aliases });
const unixNumber = (description: string) => optional(integer(description, { min: 1, max: 4_294_967_293 }));

const userChanges = {
  nfs_uid: unixNumber('Number the user has on NFS clients'),
  password: optional(secret('Password over SMB', { max: 255 })),
  groupname: optional(account('Primary group', 'staff', ['group_name'])),
  groups: optional(list(account('A group', 'staff'), 'All further groups the user is a member of', { min: 0 })),
};

export const nasUsers = {
  list: endpoint('GET', '/nas/users', {
    summary: 'List the users of shares',
    access: signedIn,
    params: page,
    reply: response({ users: listOf(NasUser), count }),
  }),
  create: endpoint('POST', '/nas/users', {
    summary: 'Make a user of shares: nfs_uid for NFS, password for SMB, at least one of them',
    access: adminOnly,
    params: {
      username: account('Name of the user', 'jo'),
      ...userChanges,
    },
    reply: response({ user: NasUser }),
    errors: ['name_taken', 'limit_reached', 'state_conflict'],
  }),
  update: endpoint('PUT', '/nas/users/{username}', {
    summary: 'Change a user of shares; what is not sent stays as it is',
    access: adminOnly,
    params: { username: account('Name of the user', 'jo'), ...userChanges },
    reply: response({ user: NasUser }),
    errors: ['user_not_found', 'state_conflict'],
  }),
  delete: endpoint('DELETE', '/nas/users/{username}', {
    summary: 'Delete a user of shares; files and quotas keep the number',
    access: adminOnly,
    params: { username: account('Name of the user', 'jo') },
    reply: response({}),
    errors: ['user_not_found', 'state_conflict'],
  }),
} satisfies Group;

export const nasGroups = {
  list: endpoint('GET', '/nas/groups', {
    summary: 'List the groups of users of shares',
    access: signedIn,
    params: page,
    reply: response({ groups: listOf(NasGroup), count }),
  }),
  create: endpoint('POST', '/nas/groups', {
    summary: 'Make a group of users of shares: nfs_gid for NFS, smb for SMB, at least one of them',
    access: adminOnly,
    params: {
      group_name: account('Name of the group', 'staff', ['groupname']),
      nfs_gid: unixNumber('Number the group has on NFS clients'),
      smb: withDefault(boolean('Use it over SMB'), false),
    },
    reply: response({ group: NasGroup }),
    errors: ['name_taken', 'limit_reached', 'state_conflict'],
  }),
  delete: endpoint('DELETE', '/nas/groups/{groupname}', {
    summary: 'Delete a group that has no members; files and quotas keep the number',
    access: adminOnly,
    params: { groupname: account('Name of the group', 'staff') },
    reply: response({}),
    errors: ['nas_group_not_found', 'state_conflict'],
  }),
} satisfies Group;
