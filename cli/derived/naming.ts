import { pathParams, type Api, type Operation, type Param } from '@granary/contract';

type Input = Readonly<Record<string, unknown>>;

/** How people name what a parameter asks for: the list that has it, and which of its fields are its names. */
export interface Naming {
  readonly group: string;
  readonly id: string;
  readonly labels: readonly string[];
  /** A text of this form is the identifier itself. */
  readonly identifier: RegExp;
  /** What the list must be asked: for what it is a part of, or for what it leaves out otherwise. */
  readonly asked: (input: Input) => Input;
}

type Known = Partial<Pick<Naming, 'labels' | 'identifier' | 'id' | 'asked'>>;

const NUMBER = /^\d+$/;
/** `volume-00000001`, `RaidGroup-1`, `vsa-00000001-vc-0`. */
const IDENTIFIER = /^(?:[a-z-]+-[0-9a-f]{8}|RaidGroup-\d+|vsa-[0-9a-f]{8}-vc-\d+)$/;
const HEX = /^[0-9a-f]{32}$/;

/** Of each API, the lists whose records have names; `id` and the form of the identifier as most of its lists have them. */
const groups: Readonly<Record<string, Known & { readonly named: Readonly<Record<string, Known>> }>> = {
  portal: {
    id: 'id',
    labels: ['name'],
    identifier: NUMBER,
    named: {
      users: { labels: ['username'] },
      clouds: {},
      driveTypes: { labels: ['name', 'key'], asked: ({ cloud_id: id }) => ({ id }) },
      providers: { labels: ['name', 'key'] },
      providerGroups: {},
      arrays: {},
      arrayRequests: {},
      objectAccounts: { labels: ['account_name'], asked: ({ array_id }) => ({ array_id }) },
      tenants: { labels: ['name', 'username'] },
      virtualNetworks: {},
    },
  },
  array: {
    id: 'name',
    labels: ['display_name'],
    identifier: IDENTIFIER,
    named: {
      mirrorJobs: { id: 'job_name', labels: ['job_display_name'] },
      remoteArrays: { labels: ['remote_display_name', 'remote_name'] },
      quotaProjects: { asked: ({ id }) => ({ id }) },
      fileCategories: { id: 'category_ext_name', labels: ['category_name'] },
      lifecyclePolicies: {},
      webhooks: { id: 'id', labels: ['name'], identifier: NUMBER },
    },
  },
  objects: {
    id: 'name',
    labels: ['display_name'],
    identifier: IDENTIFIER,
    named: {
      webhooks: { id: 'id', labels: ['name'], identifier: NUMBER },
      accounts: { id: 'id', labels: ['name'], identifier: HEX },
      users: { id: 'id', labels: ['username', 'email'], identifier: /^(?:\d+|[0-9a-f]{32})$/ },
      drives: {},
      policies: {},
      virtualControllers: { id: 'vc_index', labels: ['name'], identifier: NUMBER },
      destinations: { id: 'ext_name' },
    },
  },
};

/** Parameters that name a record of another group than their own, everywhere or in one operation. */
const parameters: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  portal: {
    'driveTypes.list id': 'clouds',
    array_id: 'arrays',
    cloud_id: 'clouds',
    provider_id: 'providers',
    provider_ids: 'providers',
    user_id: 'users',
    tenant_id: 'tenants',
    drive_type_id: 'driveTypes',
    account_id: 'objectAccounts',
    virtual_network_id: 'virtualNetworks',
    custom_network_id: 'virtualNetworks',
  },
  array: { project_id: 'quotaProjects', category: 'fileCategories', policy_name: 'lifecyclePolicies' },
  objects: {
    account_id: 'accounts',
    user_id: 'users',
    'vc-index': 'virtualControllers',
    'ext-name': 'destinations',
    'target-ext-name': 'destinations',
  },
};

/** What an operation can work on, where a name may have several records. */
const asked: Readonly<Record<string, Input>> = {
  'arrayRequests.approve': { status: 'pending' },
  'arrayRequests.deny': { status: 'pending' },
};

/** Undefined for a parameter that names nothing that can be listed. */
export function namingOf(api: Api, operation: Operation, name: string): Naming | undefined {
  const param = operation.endpoint.params[name];
  const refers = param?.refers ?? param?.item?.refers;
  const all = groups[api.name];
  if (param === undefined || all === undefined) return undefined;
  if (refers) return naming(api, refers.group, { id: refers.field }, param);
  const elsewhere = parameters[api.name] ?? {};
  const group = elsewhere[`${operation.id} ${name}`] ?? elsewhere[name] ?? ownGroup(operation, name);
  if (group === undefined || all.named[group] === undefined) return undefined;
  const found = naming(api, group, {}, param);
  return { ...found, asked: (input) => ({ ...found.asked(input), ...asked[operation.id] }) };
}

/** `{id}` and `{name}` in a path are the record of the group itself: not what a new one is to be called. */
function ownGroup({ group, endpoint }: Operation, name: string): string | undefined {
  const isOwn = name === 'id' || name === 'name';
  return isOwn && pathParams(endpoint.path).includes(name) ? group : undefined;
}

function naming(api: Api, group: string, over: Known, param: Param): Naming {
  const common = groups[api.name];
  const known = { ...common, ...common?.named[group], ...over };
  return {
    group,
    id: known.id ?? 'name',
    labels: known.labels ?? ['display_name'],
    identifier: known.identifier ?? IDENTIFIER,
    asked: (input) => ({ ...known.asked?.(input), ...param.listedWith }),
  };
}
