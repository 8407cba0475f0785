import { endpoint, type Group } from '../endpoint.ts';
import { boolean, choice, integer, list, name, optional, page, secret, text, withDefault } from '../params.ts';
import { int, listOf, nullable, oneOf, record, str, utc, yesNo } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly, creatorOf, signedIn } from './access.ts';
import { serverId, volumeId } from './ids.ts';
import { interval, IoPoint, performance } from './performance.ts';
import { allOptional, count } from './shared.ts';
import { Volume } from './volume-records.ts';

const accessTypes = ['NFS', 'SMB', 'ISCSI'] as const;

const serverFields = {
  name: str(),
  display_name: str(),
  iqn: nullable(str()),
  iscsi_ip: nullable(str('Address, or network, it comes from')),
  ipsec_iscsi: yesNo(),
  ipsec_nfs: yesNo(),
  status: oneOf('Active', 'Disconnected'),
  os: nullable(str()),
  registered: yesNo(),
  last_check_time: nullable(utc()),
  last_state_change_time: nullable(utc()),
  created_at: utc(),
  modified_at: utc(),
};

export const Server = record('Server', serverFields);

/** A server as a volume's list shows it: with the way it reaches that volume. */
export const VolumeServer = record('VolumeServer', {
  ...serverFields,
  ipsec: yesNo(),
  pm_status: str(),
  target: nullable(str('IQN to log in to')),
  access_type: oneOf(...accessTypes),
  read_only: yesNo(),
  lun: nullable(int()),
});

const sessionFields = {
  access_type: oneOf(...accessTypes),
  initiator: str(),
  target: str(),
  count: int('Connections'),
  vc: str('The controller it is with'),
  server_name: nullable(str()),
  server_display_name: nullable(str()),
};

export const Session = record('Session', sessionFields);
export const ServerSession = record('ServerSession', { ...sessionFields, connected: yesNo() });

const serverNamed = response({ server_name: str() });
const wwpns = (description: string) =>
  optional(list(text('A WWPN', { max: 32, pattern: '^[0-9A-Fa-f:]{16,23}$' }), description));
const chapUser = (description: string) => optional(text(description, { max: 64 }));
const chapSecret = (description: string) => optional(secret(description, { min: 12, max: 16 }));
/** The same in a change, where empty takes it away. */
export const newChapUser = (description: string) =>
  optional(text(`${description}; empty takes it away`, { min: 0, max: 64 }));
export const newChapSecret = (description: string) =>
  optional(
    secret(`${description}; empty takes it away`, {
      min: 0,
      max: 16,
      pattern: '^(.{12,16})?$',
      form: '12 to 16 characters, or empty',
    }),
  );
const chapTexts = {
  arrayUser:
    'Name the server signs in to the array with; the array’s own CHAP name without a secret requires the array’s secret',
  arraySecret: 'Secret the server signs in to the array with, 12 to 16 characters',
  hostUser: 'Name the array signs in to the server with',
  hostSecret: 'Secret the array signs in to the server with, 12 to 16 characters',
};

const settings = {
  display_name: name('Name shown to users', { example: 'web-1' }),
  os: optional(choice(['Windows', 'Linux', 'Solaris', 'AIX', 'ESXi'], 'Operating system')),
  iqn: optional(
    text('Its iSCSI initiator name', {
      max: 223,
      pattern: '^(iqn|eui|naa)\\.[^\\s,\\u0000-\\u001f\\u007f]+$',
      form: 'an iSCSI name: it begins with iqn., eui. or naa. and has no spaces or commas',
      example: 'iqn.2026-01.org.example:web-1',
    }),
  ),
  iscsi: optional(
    text('Address, or network as address/bits, it comes from; NFS knows a server by nothing else', {
      max: 64,
      example: '10.0.0.7',
    }),
  ),
  wwpns: wwpns('Its Fibre Channel ports'),
  arraychapuser: chapUser(chapTexts.arrayUser),
  arraychapsecret: chapSecret(chapTexts.arraySecret),
  hostchapuser: chapUser(chapTexts.hostUser),
  hostchapsecret: chapSecret(chapTexts.hostSecret),
  ipsec_iscsi: withDefault(boolean('iSCSI only over IPsec'), false),
  ipsec_nfs: withDefault(boolean('NFS only over IPsec'), false),
  force: withDefault(boolean('Go on past warnings'), false),
};

export const servers = {
  list: endpoint('GET', '/servers', {
    summary: 'List the servers',
    access: signedIn,
    params: page,
    reply: response({ servers: listOf(Server), count }),
  }),
  get: endpoint('GET', '/servers/{id}', {
    summary: 'Show one server',
    access: signedIn,
    params: { id: serverId },
    reply: response({ server: Server }),
    errors: ['server_not_found'],
  }),
  create: endpoint('POST', '/servers', {
    summary: 'Make a server known so that volumes can be attached to it; iqn, iscsi or wwpns has to be given',
    access: signedIn,
    params: settings,
    reply: serverNamed,
    errors: ['name_taken', 'limit_reached', 'not_offered', 'state_conflict'],
  }),
  update: endpoint('POST', '/servers/{id}/config', {
    summary: 'Change a server; what is not sent stays as it is',
    access: creatorOf('server'),
    params: {
      id: serverId,
      ...allOptional(settings),
      arraychapuser: newChapUser(chapTexts.arrayUser),
      arraychapsecret: newChapSecret(chapTexts.arraySecret),
      hostchapuser: newChapUser(chapTexts.hostUser),
      hostchapsecret: newChapSecret(chapTexts.hostSecret),
      monitoring: optional(boolean('Watch whether it is connected')),
      add_wwpns: wwpns('Fibre Channel ports to add'),
      remove_wwpns: wwpns('Fibre Channel ports to remove'),
    },
    reply: serverNamed,
    errors: ['server_not_found', 'name_taken', 'not_offered', 'state_conflict'],
  }),
  delete: endpoint('DELETE', '/servers/{id}', {
    summary: 'Forget a server that has no volume attached',
    access: creatorOf('server'),
    params: { id: serverId },
    reply: serverNamed,
    errors: ['server_not_found', 'state_conflict'],
  }),
  rename: endpoint('POST', '/servers/{id}/rename', {
    summary: 'Rename a server',
    access: creatorOf('server'),
    params: { id: serverId, new_name: name('New name', { example: 'web-2', aliases: ['newname'] }) },
    reply: serverNamed,
    errors: ['server_not_found', 'name_taken'],
  }),
  listSessions: endpoint('GET', '/servers/{id}/sessions', {
    summary: 'List the sessions a server has with the array',
    access: signedIn,
    params: { id: serverId, ...page },
    reply: response({ sessions: listOf(ServerSession), count }),
    errors: ['server_not_found'],
  }),
  closeSession: endpoint('DELETE', '/servers/session', {
    summary: 'Close a session; the server may open it again',
    access: adminOnly,
    params: {
      initiator: text('Initiator, as the list of sessions shows it', {
        max: 223,
        example: 'iqn.2026-01.org.example:web-1',
      }),
      target: text('Target, as the list of sessions shows it', { max: 223, example: 'iqn.2026-01.org.example:array' }),
    },
    reply: response({}),
    errors: ['nothing_to_delete'],
  }),
  listVolumes: endpoint('GET', '/servers/{id}/volumes', {
    summary: 'List the volumes attached to a server',
    access: signedIn,
    params: { id: serverId, ...page },
    reply: response({ volumes: listOf(Volume), count }),
    errors: ['server_not_found'],
  }),
  attachVolumes: endpoint('POST', '/servers/{id}/volumes', {
    summary: 'Attach volumes or shares to servers',
    access: creatorOf('volume', 'volume_name', { kind: 'server', param: 'id' }),
    params: {
      id: list(serverId, 'The servers', { max: 100, example: ['srv-00000001'] }),
      volume_name: list(volumeId, 'The volumes or shares', { max: 100, example: ['volume-00000001'] }),
      access_type: optional(
        choice(
          accessTypes,
          'How the servers reach it; ISCSI for a block volume and NFS for a share when left out. SMB is refused: it is not served yet',
        ),
      ),
      lun: optional(integer('LUN of a block volume; the first free one when left out', { max: 16_383 })),
      readonly: optional(boolean('Reading only; reading and writing when left out')),
      force: withDefault(boolean('Attach it although other servers have it'), false),
    },
    reply: response({}),
    errors: [
      'server_not_found',
      'volume_not_found',
      'volume_attached',
      'lun_taken',
      'limit_reached',
      'state_conflict',
      'not_offered',
    ],
  }),
  performance: performance('/servers/{id}/performance', {
    of: 'what a server reads and writes',
    params: { id: serverId, interval },
    fields: { server_name: str(), usages: listOf(IoPoint) },
    errors: ['server_not_found'],
  }),
} satisfies Group;
