import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  errorCatalogue,
  refusals,
  operations,
  type Access,
  type Api,
  type Operation,
  type Param,
  type RecordReply,
} from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { cloudApi } from '@granary/contract/cloud';
import { objectsApi } from '@granary/contract/objects';
import { portalApi } from '@granary/contract/portal';
import { conformancePage } from '@granary/protocols/s3/conformance';
import { format, resolveConfig } from 'prettier';

/** Writes the API reference, the page of errors and the conformance of S3 from their tables; `--check` only says whether they are up to date. */
const apis: readonly Api[] = [portalApi, arrayApi, objectsApi, cloudApi];

interface Schema {
  readonly type?: string;
  readonly title?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly description?: string;
}

function page(api: Api): string {
  const groups = Object.keys(api.groups).map((group) => {
    const sections = operations(api)
      .filter((operation) => operation.group === group)
      .map(section);
    return `## ${group}\n\n${sections.join('\n')}`;
  });
  return `# ${api.title}\n\n${api.description}\n\nGenerated from the contract by \`npm run docs:api\`. Paths are below \`/api\`.\n\n${groups.join('\n\n')}\n`;
}

function section({ id, endpoint }: Operation): string {
  const { method, path, summary, params, reply, access, job, errors } = endpoint;
  const roles = access.roles === 'anyone' ? 'anyone' : access.roles.join(', ');
  const rows = Object.entries(params).map(
    ([name, param]) => `| \`${name}\` | ${kindOf(param)} | ${presenceOf(param)} | ${cell(param.description)} |`,
  );
  return [
    `### ${id}`,
    `\`${method} ${path}\``,
    `${summary}. Who: ${roles}${limitOf(access)}.${job ? ` Work goes on until the state is ${job.until.join(' or ')}.` : ''}`,
    rows.length > 0 ? ['| Parameter | Type | | |', '|---|---|---|---|', ...rows].join('\n') : '',
    reply.kind === 'file' ? `Reply: a file, \`${reply.contentType}\`.` : `Reply: \`${replyText(reply)}\``,
    errors.length > 0 ? `Errors: ${errors.map((name) => `[${name}](../errors.md)`).join(', ')}.` : '',
    '',
  ]
    .filter((line, index, all) => line !== '' || index === all.length - 1)
    .join('\n\n');
}

function limitOf({ owned, creator }: Access): string {
  if (owned) return ' (only their own)';
  return creator ? ` (a user only what that user created, by \`${creator.param}\`)` : '';
}

function kindOf(param: Param): string {
  const schema = param.schema as Schema;
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ');
  const limits = [
    schema.minimum !== undefined && schema.minimum !== 0 ? `≥ ${schema.minimum}` : '',
    schema.maxLength !== undefined ? `≤ ${schema.maxLength} characters` : '',
  ].filter((text) => text !== '');
  return [param.kind === 'list' ? `list of ${param.item?.kind ?? 'values'}` : param.kind, ...limits].join(', ');
}

function presenceOf(param: Param): string {
  if (param.presence === 'required') return 'required';
  return param.presence === 'optional' ? 'optional' : `default ${JSON.stringify(param.default)}`;
}

function replyText({ wrapper, constants, fields }: RecordReply): string {
  const inside = [
    ...Object.entries(constants).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
    ...Object.entries(fields).map(([name, schema]) => `${name}: ${typeText(schema as Schema)}`),
  ].join(', ');
  return wrapper === undefined ? `{${inside}}` : `{${wrapper}: {${inside}}}`;
}

function typeText(schema: Schema): string {
  if (schema.title !== undefined) return schema.title;
  if (schema.anyOf) return schema.anyOf.map(typeText).join(' or ');
  if (schema.type === 'array') return `[${schema.items ? typeText(schema.items) : ''}]`;
  if (schema.enum) return schema.enum.map((value) => `'${value}'`).join(' or ');
  return schema.type ?? 'any';
}

/** The records an API's replies are made of, by name. */
function recordsOf(api: Api): Map<string, Schema> {
  const found = new Map<string, Schema>();
  const visit = (schema: Schema | undefined): void => {
    if (!schema || (schema.title !== undefined && found.has(schema.title))) return;
    if (schema.title !== undefined) found.set(schema.title, schema);
    for (const child of [schema.items, ...(schema.anyOf ?? []), ...Object.values(schema.properties ?? {})])
      visit(child);
  };
  for (const { endpoint } of operations(api)) {
    if (endpoint.reply.kind === 'record') for (const field of Object.values(endpoint.reply.fields)) visit(field);
  }
  return found;
}

/** Of a field that may be null, the text is beside `null`. */
function descriptionOf(field: Schema): string {
  return field.description ?? field.anyOf?.find(({ type }) => type !== 'null')?.description ?? '';
}

function recordSections(api: Api): string {
  const sections = [...recordsOf(api)]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([title, schema]) => {
      const rows = Object.entries(schema.properties ?? {}).map(
        ([name, field]) => `| \`${name}\` | ${cell(typeText(field))} | ${cell(descriptionOf(field))} |`,
      );
      return [`### ${title}`, '', '| Field | Type | |', '|---|---|---|', ...rows, ''].join('\n');
    });
  return `## Records\n\n${sections.join('\n')}`;
}

function errorPage(): string {
  const rows = Object.entries(errorCatalogue).map(
    ([name, { http, code, message }]) => `| \`${name}\` | ${code} | ${http} | ${cell(message)} |`,
  );
  return [
    '# Errors',
    '',
    'Generated from the catalogue by `npm run docs:api`. The portal answers with the HTTP status and',
    '`{status: "error", message, errors: [{field, message}]}`; arrays and object storage answer HTTP 200 with',
    '`{response: {status: <code>, message}}`, save for 404 (unknown path), 413, 429, 500, 501 and 503.',
    '',
    '| Name | Code | HTTP | Message |',
    '|---|---|---|---|',
    ...rows,
    '',
    '## Messages of families',
    '',
    'Errors of one family share its code; the message says which of them it is.',
    '',
    '| Family | Message |',
    '|---|---|',
    ...Object.values(refusals).map(({ family, message }) => `| \`${family}\` | ${cell(message)} |`),
    '',
  ].join('\n');
}

const ROLES_HEAD = `# Roles

Generated from the contract by \`npm run docs:api\`; a test calls every operation as every role.

- **yes**: the role may call it. **own**: only on what belongs to the caller; at the portal another's does not exist.
  **created**: only on what the caller created, or on snapshots, rules, migrations and mirrors of volumes the caller created.
  **no**: refused.
- In an array \`admin\` does everything. \`user\` looks at everything and uses it: creates groups, pools, volumes, servers,
  snapshots and policies, and changes or deletes volumes, servers and policies of their own. Drives, RAID groups and pools,
  once made, are the administrator's to change: nothing a user does destroys hardware or another's data.
- A snapshot policy that others attached to their volumes is the administrator's to change: it decides which snapshots stay.
- Users share what an array has: free drives, room in pools, and how many volumes, snapshots, servers and policies there
  may be. There are no shares for each: users of an array trust each other that far. Tenants who do not have arrays of
  their own.
- Over Swift a \`member\` of an account owns nothing of it: what ACLs of containers (\`X-Container-Read\`, \`X-Container-Write\`)
  and of the account (\`X-Account-Access-Control\`) open to a member is open, the rest is refused. Over S3 every user of an
  account reaches its buckets, as far as their policies let them. An \`account_admin\` owns the account over both.
- In object storage the keys of an account's primary user are shown to that user and to administrators of the array, and
  replaced by them, not by other administrators of the account.
- Who comes through the portal (\`/via/{array_id}\`) is in an array its user of the same name, with that user's role: an
  administrator of the array adds one to let a person in. In object storage that is a user of the system account, or else, for
  the owner of an account that was opened through the portal, an administrator of that account. An operator of the portal
  without a user there sees only the array's record. \`GET /arrays/{array_id}/identity\` tells who the caller is there.
- What has no creator who is still a user (the portal, a mirror of another array, a removed user) is the
  administrator's.
`;

function rolePage(): string {
  return [ROLES_HEAD, ...[portalApi, arrayApi, objectsApi].map(roleTable)].join('\n');
}

function roleTable(api: Api): string {
  const all = operations(api);
  const roles = [
    ...new Set(all.flatMap(({ endpoint: { access } }) => (access.roles === 'anyone' ? [] : access.roles))),
  ];
  const rows = all.map(({ id, endpoint }) => {
    const cells = roles.map((role) => mayCall(endpoint.access, role));
    return `| \`${id}\` | \`${endpoint.method} ${endpoint.path}\` | ${cells.join(' | ')} |`;
  });
  const head = `| Operation | | ${roles.join(' | ')} |\n|---|---|${roles.map(() => '---|').join('')}`;
  return `## ${api.title}\n\n${head}\n${rows.join('\n')}\n`;
}

function mayCall({ roles, owned, creator }: Access, role: string): string {
  if (roles === 'anyone') return 'yes';
  if (!roles.includes(role)) return 'no';
  if (role === 'admin' || role === 'objs_admin') return 'yes';
  if (owned) return 'own';
  return creator ? 'created' : 'yes';
}

function cell(text: string): string {
  return text
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ')
    .replace(/[<>{}]/g, (sign) => `\\${sign}`);
}

const pages = new Map<string, string>([
  ...apis.map((api) => [`docs/api/${api.name}.md`, `${page(api)}\n${recordSections(api)}`] as const),
  ['docs/errors.md', errorPage()],
  ['docs/roles.md', rolePage()],
  ['docs/s3-conformance.md', conformancePage()],
]);

const check = process.argv.includes('--check');
const options = (await resolveConfig('docs/api/portal.md')) ?? {};
for (const [file, text] of pages) {
  const wanted = await format(text, { ...options, parser: 'markdown' });
  if (check) {
    let found = '';
    try {
      found = readFileSync(file, 'utf8');
    } catch {
      // Missing counts as out of date.
    }
    if (found === wanted) continue;
    process.stderr.write(`${file} is not what the contract says; run: npm run docs:api\n`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, wanted);
  }
}
