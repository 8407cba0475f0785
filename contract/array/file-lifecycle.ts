import { endpoint, type Group } from '../endpoint.ts';
import { boolean, choice, integer, json, list, name, optional, page, text, withDefault } from '../params.ts';
import { int, listOf, nullable, oneOf, record, str, utc, yesNo } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly, signedIn } from './access.ts';
import { categoryId, destinationId, lifecyclePolicyId, volumeId } from './ids.ts';
import { allOptional, count } from './shared.ts';
import { Type } from '../schema.ts';

export const FileCategory = record('FileCategory', {
  extensions_count: int(),
  category_ext_name: str('Its identifier'),
  category_name: str(),
  extension: Type.Union([listOf(str()), str()], { description: 'A list; a single text when there is only one' }),
});

const actions = ['archive', 'expire'] as const;

export const LifecyclePolicy = record('LifecyclePolicy', {
  name: str(),
  display_name: str(),
  enabled: yesNo(),
  dry_run_mode: yesNo(),
  use_recycle_bin: yesNo(),
  file_selection_criteria: str('JSON text of the match expression'),
  whitelist_paths: nullable(str('Comma list')),
  blacklist_paths: nullable(str('Comma list')),
  action: oneOf(...actions),
  created_at: utc(),
  modified_at: utc(),
});

/** What ties a policy to a share. */
export const LifecycleRule = record('LifecycleRule', {
  name: str(),
  policy_name: str(),
  policy_display_name: str(),
  volume_name: str(),
  volume_display_name: str(),
  paused: yesNo(),
  last_run_at: nullable(utc('When it last ran on the share, or began to')),
  last_run_dry: nullable(yesNo()),
  matched_files: int('Of the last run'),
  matched_bytes: int(),
  handled_files: int('Archived or deleted'),
  handled_bytes: int(),
  changed_files: int('Left alone, because they were changed meanwhile'),
  failed_files: int(),
  last_run_problem: nullable(str('What failed first, or why it did not run')),
  matched_paths: listOf(str('The first paths that matched')),
  created_at: utc(),
  modified_at: utc(),
});

const displayName = name('Name shown to users', { example: 'Pictures' });
const extensions = list(text('An extension, without the dot', { max: 32 }), 'File name extensions, without the dot', {
  example: ['jpg', 'png'],
});

export const fileCategories = {
  list: endpoint('GET', '/flc/categories_settings', {
    summary: 'List the categories that files are counted in by their extension',
    access: signedIn,
    params: page,
    reply: response({ categories: listOf(FileCategory), count }),
  }),
  create: endpoint('POST', '/flc/create_category', {
    summary: 'Make a category of file name extensions',
    access: adminOnly,
    params: { displayname: displayName, file_extensions: extensions },
    reply: response({ category_ext_name: str() }),
    errors: ['name_taken', 'limit_reached', 'state_conflict'],
  }),
  update: endpoint('POST', '/flc/update_category', {
    summary: 'Change the extensions of a category',
    access: adminOnly,
    params: { category: categoryId, file_extensions: extensions },
    reply: response({}),
    errors: ['category_not_found', 'state_conflict'],
  }),
  rename: endpoint('POST', '/flc/rename_category', {
    summary: 'Rename a category',
    access: adminOnly,
    params: { category: categoryId, displayname: displayName },
    reply: response({}),
    errors: ['category_not_found', 'name_taken'],
  }),
  delete: endpoint('DELETE', '/flc/delete_category', {
    summary: 'Delete a category',
    access: adminOnly,
    params: { category: categoryId },
    reply: response({}),
    errors: ['category_not_found'],
  }),
} satisfies Group;

const window = {
  first: withDefault(integer('Records to pass over before the first one returned'), 0),
  number: withDefault(integer('Records to return; 0 returns all'), 0),
};
const ofVolume = optional({ ...volumeId, description: 'Only those attached to this share' });
const paths = (description: string) => optional(list(text('A path', { max: 4096 }), description, { min: 0 }));
const policyNamed = response({ lc_policy_name: str() });

const settings = {
  display_name: name('Name shown to users', { example: 'Old logs' }),
  file_selection_criteria: json<Record<string, unknown>>(
    Type.Record(Type.String(), Type.Unknown()),
    'Which files: a match expression in JSON, as document databases take it',
    { example: { extension: { $in: ['log'] } } },
  ),
  lc_action: choice(actions, 'Move the files to object storage, or delete them'),
  enabled: withDefault(boolean('Whether it runs'), true),
  dry_run: withDefault(boolean('Only log what it would do'), false),
  use_recycle_bin: withDefault(boolean('Keep the files in the recycle bin for a while'), false),
  whitelist_paths: paths('Only under these paths'),
  blacklist_paths: paths('Never under these paths'),
  dest_obs_name: optional({ ...destinationId, description: 'Where archived files go' }),
};

const onVolume = { id: lifecyclePolicyId, volume_name: volumeId };

export const lifecyclePolicies = {
  list: endpoint('GET', '/flc_policies', {
    summary: 'List the file lifecycle policies',
    access: signedIn,
    params: {
      ...window,
      order_by: optional(choice(['name', 'display_name', 'created_at', 'modified_at'], 'Field to order by')),
      descend: withDefault(boolean('Largest first'), false),
      volume_name: ofVolume,
    },
    reply: response({ lc_policies: listOf(LifecyclePolicy), count }),
    errors: ['volume_not_found'],
  }),
  listRules: endpoint('GET', '/flc_policies/rules', {
    summary: 'List which file lifecycle policy is attached to which share',
    access: signedIn,
    params: {
      ...window,
      volume_name: ofVolume,
      policy_name: optional({ ...lifecyclePolicyId, description: 'Only those of this policy' }),
    },
    reply: response({ lc_rules: listOf(LifecycleRule), count }),
    errors: ['volume_not_found', 'policy_not_found'],
  }),
  get: endpoint('GET', '/flc_policies/{id}', {
    summary: 'Show one file lifecycle policy',
    access: signedIn,
    params: { id: lifecyclePolicyId },
    reply: response({ life_cycle_policy: LifecyclePolicy }),
    errors: ['policy_not_found'],
  }),
  create: endpoint('POST', '/flc_policies', {
    summary: 'Make a policy that archives or deletes the files that match',
    access: adminOnly,
    params: settings,
    reply: response({ lc_policy_name: str(), life_cycle_policy: LifecyclePolicy }),
    errors: ['name_taken', 'destination_not_found', 'limit_reached'],
  }),
  update: endpoint('PUT', '/flc_policies/{id}', {
    summary: 'Change a file lifecycle policy; what is not sent stays as it is',
    access: adminOnly,
    params: { id: lifecyclePolicyId, ...allOptional(settings) },
    reply: policyNamed,
    errors: ['policy_not_found', 'name_taken', 'destination_not_found'],
  }),
  delete: endpoint('DELETE', '/flc_policies/{id}', {
    summary: 'Delete a file lifecycle policy that is attached to no share',
    access: adminOnly,
    params: { id: lifecyclePolicyId },
    reply: policyNamed,
    errors: ['policy_not_found', 'state_conflict'],
  }),
  setSchedule: endpoint('PUT', '/flc_policies/scheduling', {
    summary: 'Set when file lifecycle policies run; what is not sent stays as it is',
    access: adminOnly,
    params: {
      policy_start_time: optional(integer('First run of the day, seconds after midnight UTC', { max: 86_399 })),
      policy_interval: optional(integer('Seconds between two runs', { min: 60, max: 31_536_000 })),
    },
    reply: response({ policy_start_time: str(), policy_interval: int() }),
  }),
  scan: endpoint('POST', '/flc_policies/scan', {
    summary: 'Run the file lifecycle policies of a share now, whatever their schedule',
    access: adminOnly,
    params: { volume_name: volumeId },
    reply: response({ volume_name: str() }),
    errors: ['volume_not_found', 'state_conflict'],
  }),
  setRecycleBin: endpoint('PUT', '/flc_policies/recycle_bin', {
    summary: 'Set how long the recycle bin keeps files',
    access: adminOnly,
    params: { retention_time: integer('Seconds', { max: 315_360_000, example: 604_800 }) },
    reply: response({ retention_time: str() }),
  }),
  pause: endpoint('PUT', '/flc_policies/{id}/pause', {
    summary: 'Stop running a policy on one share',
    access: adminOnly,
    params: onVolume,
    reply: policyNamed,
    errors: ['policy_not_found', 'volume_not_found', 'state_conflict'],
  }),
  resume: endpoint('PUT', '/flc_policies/{id}/resume', {
    summary: 'Run a paused policy on one share again',
    access: adminOnly,
    params: onVolume,
    reply: policyNamed,
    errors: ['policy_not_found', 'volume_not_found', 'state_conflict'],
  }),
  attach: endpoint('PUT', '/flc_policies/{id}/attach', {
    summary: 'Attach a file lifecycle policy to a share',
    access: adminOnly,
    params: onVolume,
    reply: policyNamed,
    errors: ['policy_not_found', 'volume_not_found', 'state_conflict'],
  }),
  detach: endpoint('PUT', '/flc_policies/{id}/detach', {
    summary: 'Detach a file lifecycle policy from a share',
    access: adminOnly,
    params: onVolume,
    reply: policyNamed,
    errors: ['policy_not_found', 'volume_not_found', 'nothing_to_delete'],
  }),
} satisfies Group;
