import { endpoint, type Group } from '../endpoint.ts';
import {
  boolean,
  choice,
  file,
  integer,
  json,
  list,
  name,
  optional,
  page,
  text,
  waiting,
  withDefault,
} from '../params.ts';
import { int, iso, listOf, nullable, oneOf, record, str, utc, yesNo } from '../records.ts';
import { response } from '../reply.ts';
import { creatorOf, signedIn } from './access.ts';
import { projectId, volumeId } from './ids.ts';
import { count } from './shared.ts';
import { Type } from '../schema.ts';

const sources = ['user', 'group', 'project'] as const;

export const Quota = record('Quota', {
  source_id: str('Number of the user, group or project'),
  source_id_display: str(),
  usage: str('MB'),
  soft: str('MB'),
  hard: str('MB'),
  source_type: oneOf(...sources),
  nas_type: str('ad, uid or nas'),
});

export const QuotaProject = record('QuotaProject', {
  name: str(),
  display_name: str(),
  id: int('Number that quotas name'),
  volume_id: str(),
  was_deleted: yesNo(),
  created_at: utc(),
  modified_at: utc(),
  directories_count: int(),
  directories: listOf(
    record('QuotaProjectDirectory', { path: str(), status: str('Ready, Adding <n>% or Removing <n>%') }),
  ),
});

export interface QuotaChange {
  readonly source_id: number;
  readonly source_type: (typeof sources)[number];
  readonly nas_type: string;
  readonly limit: string;
}

const QuotaChanges = Type.Array(
  Type.Object({
    source_id: Type.Integer({ minimum: 0 }),
    source_type: oneOf(...sources),
    nas_type: Type.String({ maxLength: 32 }),
    limit: Type.String({ pattern: '^[0-9]{1,15}$', description: 'MB; 0 removes the quota' }),
  }),
  { minItems: 1, maxItems: 1000 },
);

const scope = choice(sources, 'Whose quotas');
const onOff = (description: string) => optional(choice(['on', 'off'], description));
const account = (description: string) => optional(text(description, { max: 128 }));
const path = text('Directory, from the root of the share', { example: '/projects/apollo' });
/** Moving the files of a directory takes as long as there are many; the directories of a project tell how far it is. */
const job = { until: ['Ready'] };
const refused = listOf(str('What was refused and why'));

export const quotas = {
  list: endpoint('GET', '/volumes/{id}/quotas', {
    summary: 'List the quotas of a share and how much of them is used',
    access: signedIn,
    params: { id: volumeId, scope, ...page },
    reply: response({
      quotas: listOf(Quota),
      updated: nullable(utc('When usage was last counted')),
      updated_iso: nullable(iso()),
      count,
    }),
    errors: ['volume_not_found', 'state_conflict', 'volume_locked'],
  }),
  get: endpoint('GET', '/volumes/{id}/quota', {
    summary: 'Show the quota of one user, group or project, MB; name it by one of the three',
    access: signedIn,
    params: {
      id: volumeId,
      scope,
      quota_id: optional(integer('Number of the user or group over NFS, or of the project', { max: 4_294_967_295 })),
      quota_nas: account('Name of the NAS user or group'),
      quota_ad: account('Name in Active Directory'),
    },
    reply: response({ value: str() }),
    errors: [
      'volume_not_found',
      'user_not_found',
      'nas_group_not_found',
      'project_not_found',
      'state_conflict',
      'volume_locked',
    ],
  }),
  set: endpoint('POST', '/volumes/{id}/quotas', {
    summary: 'Set quotas of a share; those that cannot be set are named in the reply, the others are set',
    access: creatorOf('volume'),
    params: {
      id: volumeId,
      quotas: json<QuotaChange[]>(QuotaChanges, 'source_id, source_type, nas_type and limit (MB) of each', {
        example: [{ source_id: 1000, source_type: 'user', nas_type: 'uid', limit: '1024' }],
      }),
    },
    // 1,000 quotas of five elements each, with room for indentation.
    body: { xmlBytesMax: 512 * 1024, xmlElementsMax: 6_000 },
    reply: response({ errors: refused }),
    errors: ['volume_not_found', 'state_conflict', 'volume_locked', 'capacity_refused'],
  }),
  setState: endpoint('POST', '/volumes/{id}/quotas_state', {
    summary: 'Turn quotas of a share on or off; at least one kind has to be named',
    access: creatorOf('volume'),
    params: {
      id: volumeId,
      uquota: onOff('Quotas of users'),
      gquota: onOff('Quotas of groups'),
      pquota: onOff('Quotas of projects'),
      force: withDefault(boolean('Go on past warnings'), false),
    },
    reply: response({ vol_name: str() }),
    errors: ['volume_not_found', 'state_conflict', 'volume_locked', 'capacity_refused'],
  }),
  import: endpoint('POST', '/volumes/{id}/import_quotas', {
    summary: 'Set quotas of a share from a file; all or none are set',
    access: creatorOf('volume'),
    params: {
      id: volumeId,
      scope,
      file_format: choice(['csv', 'text'], 'Comma-separated with a header, or one name and limit a line'),
      file: file('The quotas'),
    },
    reply: response({}),
    errors: ['volume_not_found', 'state_conflict', 'volume_locked', 'capacity_refused'],
  }),
} satisfies Group;

export const quotaProjects = {
  list: endpoint('GET', '/volumes/{id}/quota_projects', {
    summary: 'List the quota projects of a share',
    access: signedIn,
    params: { id: volumeId, ...page },
    reply: response({ projects: listOf(QuotaProject), count }),
    errors: ['volume_not_found', 'state_conflict'],
  }),
  create: endpoint('POST', '/volumes/{id}/quota_projects', {
    summary: 'Group directories of a share into a project that can have a quota',
    access: creatorOf('volume'),
    params: {
      id: volumeId,
      display_name: name('Name shown to users', { example: 'apollo' }),
      directories: optional(list(path, 'Directories, from the root of the share')),
      ...waiting,
    },
    reply: response({ errors: refused }),
    job,
    errors: ['volume_not_found', 'name_taken', 'limit_reached', 'state_conflict'],
  }),
  delete: endpoint('DELETE', '/volumes/{id}/quota_projects', {
    summary: 'Delete a quota project',
    access: creatorOf('volume'),
    params: {
      id: volumeId,
      project_id: projectId,
      force: withDefault(boolean('Delete it even when it has directories'), false),
      ...waiting,
    },
    reply: response({}),
    job,
    errors: ['volume_not_found', 'project_not_found', 'state_conflict'],
  }),
  addDirectory: endpoint('POST', '/volumes/{id}/quota_project_directories', {
    summary: 'Add a directory to a quota project',
    access: creatorOf('volume'),
    params: { id: volumeId, project_id: projectId, path, ...waiting },
    reply: response({}),
    job,
    errors: ['volume_not_found', 'project_not_found', 'limit_reached', 'state_conflict'],
  }),
  removeDirectory: endpoint('DELETE', '/volumes/{id}/quota_project_directories', {
    summary: 'Take a directory out of a quota project',
    access: creatorOf('volume'),
    params: { id: volumeId, project_id: projectId, path, ...waiting },
    reply: response({}),
    job,
    errors: ['volume_not_found', 'project_not_found', 'nothing_to_delete', 'state_conflict'],
  }),
} satisfies Group;
