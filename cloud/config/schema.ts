import Type, { type Static } from 'typebox';

/**
 * What an operator may write in `granary.config.json`. The schema is written beside the file, so an editor explains
 * each value while it is typed; an unknown key is an error, because it is most likely a misspelt one.
 */
export const KEY_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$';
export const FOLDER_NAME_PATTERN = '^[a-z0-9][a-z0-9-]{0,62}$';
export const AMOUNT_PATTERN = '^\\d{1,9}(\\.\\d{1,9})?$';

const key = (description: string) => Type.String({ description, pattern: KEY_PATTERN });
const label = (description: string) => Type.String({ description, minLength: 1, maxLength: 128 });
const id = (description: string) => Type.Integer({ description, minimum: 1, maximum: 2 ** 31 - 1 });
const gigabytes = (description: string, minimum = 0) => Type.Integer({ description, minimum, maximum: 1_000_000 });
const price = (description: string) =>
  Type.String({
    description: `${description}, USD an hour, as text such as "0.05"`,
    pattern: AMOUNT_PATTERN,
  });
const cidr = (description: string) => Type.String({ description, minLength: 7, maxLength: 49 });
const strict = <F extends Parameters<typeof Type.Object>[0]>(fields: F, description?: string) =>
  Type.Object(fields, { additionalProperties: false, ...(description !== undefined && { description }) });

const Zone = strict({
  id: id('Number of the zone'),
  name: key('Name orders use'),
  display_name: label('Name people see'),
});

const Node = strict({
  name: Type.String({
    description: 'Name of the storage node; its drives are kept in a folder of this name',
    pattern: FOLDER_NAME_PATTERN,
  }),
  zone: key('Zone the node is in'),
  drives: Type.Record(Type.String(), Type.Integer({ minimum: 0, maximum: 10_000 }), {
    description: 'How many drives of each type the node has',
  }),
});

const DriveType = strict({
  id: id('Number of the drive type'),
  key: key('What orders name'),
  name: label('Name people see'),
  medium: Type.Enum(['ssd', 'hdd'], { description: 'Kind of drive' }),
  capacity_gb: gigabytes('Capacity; 1 GB is 2^30 bytes', 1),
  cache: Type.Boolean({ description: 'Made for cache rather than for data' }),
  hourly_price_usd: price('Price of one drive'),
});

const EngineType = strict({
  id: id('Number of the engine type'),
  nova_id: id('Number that price changes may name it by'),
  key: key('What orders name'),
  name: label('Name people see'),
  specs: Type.String({ description: 'What it is made of, in words', maxLength: 256 }),
  vcpus: Type.Optional(
    Type.Integer({
      description:
        'Processors: with those of the app engine they decide how many threads an array has; all of the machine when left out',
      minimum: 1,
      maximum: 1024,
    }),
  ),
  memory_mb: Type.Optional(
    Type.Integer({
      description:
        'Memory: half is for what controllers keep of drives and volumes, half for the included cache; not limited when left out',
      minimum: 512,
      maximum: 2 ** 24,
    }),
  ),
  max_drives: Type.Integer({ description: 'Most drives an array with it has', minimum: 1, maximum: 10_000 }),
  base_cache_gb: gigabytes('Cache that comes with it'),
  max_cache_gb: gigabytes('Most cache in all'),
  max_flash_cache_gb: gigabytes('Most cache that can be added'),
  recommended_flash_cache_gb: gigabytes('Cache that suits most'),
  hourly_price_usd: price('Price of the engine'),
  encryption_hourly_price_usd: price('Price of encryption on it'),
});

const AppEngine = strict({
  key: key('What orders name'),
  name: label('Name people see'),
  type: key('Kind of application engine'),
  specs: Type.String({ description: 'What it is made of, in words', maxLength: 256 }),
  vcpus: Type.Integer({ description: 'Processors it adds to those of the engine', minimum: 0, maximum: 1024 }),
  memory_mb: Type.Integer({
    description: "Memory of the array's management, as a limit; 0: not limited",
    minimum: 0,
    maximum: 2 ** 24,
  }),
  hourly_price_usd: price('Price of the application engine'),
  default: Type.Boolean({ description: 'Taken when an order names none' }),
});

const PolicyType = strict({
  id: id('Number of the policy type'),
  name: label('Name people see'),
  replicas: Type.Integer({
    description: 'Copies of each object; 1 where fragments protect it',
    minimum: 1,
    maximum: 10,
  }),
  data_fragments: Type.Integer({ description: '0 for copies', minimum: 0, maximum: 32 }),
  parity_fragments: Type.Integer({ description: '0 for copies', minimum: 0, maximum: 16 }),
});

export const ConfigSchema = strict({
  $schema: Type.Optional(Type.String({ maxLength: 1024 })),
  zones: Type.Array(Zone, { minItems: 1, maxItems: 64 }),
  nodes: Type.Array(Node, { minItems: 1, maxItems: 1024 }),
  drive_types: Type.Array(DriveType, { minItems: 1, maxItems: 64 }),
  engine_types: Type.Array(EngineType, { minItems: 1, maxItems: 64 }),
  app_engines: Type.Array(AppEngine, { maxItems: 64 }),
  policy_types: Type.Array(PolicyType, { maxItems: 64 }),
  flash_cache: strict({
    enabled: Type.Boolean({ description: 'Whether cache can be added to an array' }),
    increment_gb: gigabytes('Step in which it is ordered', 1),
    partition_gb: gigabytes('Size of one cache partition', 1),
    gb_hourly_price_usd: price('Price of one GB of added cache'),
  }),
  object_storage: Type.Optional(
    strict({
      proxy_hourly_price_usd: price('Price of a proxy controller'),
      public_objs_hourly_price_usd: price('Price of a public object service'),
      encryption_hourly_price_usd: Type.Optional(price('Price of encryption of an array')),
    }),
  ),
  minimum_drives: Type.Integer({ description: 'Fewest drives of an order', minimum: 1, maximum: 1000 }),
  features: strict({
    fibre_channel: Type.Boolean({ description: 'Only false: arrays are reached over IP' }),
    file_lifecycle: Type.Boolean(),
    iscsi_dual_target: Type.Boolean({ description: 'Whether arrays may be ordered with a target for each controller' }),
    object_storage: Type.Boolean({ description: 'Whether object storage can be ordered' }),
  }),
  network: strict({
    arrays: cidr(
      'Range that arrays get their addresses from. A range of one address (/32) is shared: arrays then differ by port',
    ),
    management_port: Type.Integer({
      description: 'Port of an array on its own address',
      minimum: 1024,
      maximum: 65_535,
    }),
    shared_ports: strict(
      {
        first: Type.Integer({ minimum: 1024, maximum: 65_535 }),
        last: Type.Integer({ minimum: 1024, maximum: 65_535 }),
      },
      'Ports of arrays that share one address',
    ),
    public: Type.Optional(cidr('Range that public addresses come from; leave it out to offer none')),
    public_ip_hourly_price_usd: price('Price of a public address'),
    vlans: strict(
      { first: Type.Integer({ minimum: 1, maximum: 4094 }), last: Type.Integer({ minimum: 1, maximum: 4094 }) },
      'VLANs the portal may give out',
    ),
  }),
  arrays_max: Type.Integer({ description: 'Most arrays this cloud hosts', minimum: 1, maximum: 100_000 }),
});

export type Config = Static<typeof ConfigSchema>;
export type DriveTypeConfig = Config['drive_types'][number];
export type NodeConfig = Config['nodes'][number];
