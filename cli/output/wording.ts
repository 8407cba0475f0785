import { operations, type Api, type Operation } from '@granary/contract';
import { commandName, optionFlag } from '../names.ts';

/** `POST /settings/encryption`, with or without `/api` and a number or name in place of a parameter. */
const CALL = /\b(GET|POST|PUT|DELETE) (?:\/api)?(\/[\w{}/:.-]*[\w}])/g;
/** `force=YES`: a switch of a command. */
const SWITCH = /\b([a-z]\w*)=(YES|NO|true|false)\b/g;
/** `admin_key`: a parameter, as the API spells it. */
const PARAMETER = /(?<![\w{/<.-])[a-z]+(?:_[a-z0-9]+)+(?![\w}>=-])/g;
const OPERATION = /\b([a-z][A-Za-z]*)\.([a-z][A-Za-z]*)\b/g;
/** What one types before the group. */
const PREFIXES: Readonly<Record<string, string>> = { array: 'array ', objects: 'objects ' };

/** `array `, before the commands of an array. */
export function commandPrefix({ name }: Api): string {
  return PREFIXES[name] ?? '';
}

/** A message of a service in the words of the command line: calls become commands, parameters options. */
export function inCommands(api: Api, message: string): string {
  const { all, params } = wordsOf(api);
  const command = (operation: Operation) => `\`granary ${commandPrefix(api)}${commandName(operation)}\``;
  const flag = (text: string, name: string, value: string) =>
    params.has(name) ? optionFlag(/^(NO|false)$/.test(value) ? `no_${name}` : name) : text;
  const replaced = message.replace(SWITCH, flag).replace(CALL, (text, method: string, path: string) => {
    const meant = all.filter(({ endpoint }) => endpoint.method === method);
    const found =
      meant.find(({ endpoint }) => endpoint.path === path) ?? meant.find(({ endpoint }) => fits(endpoint.path, path));
    return found ? command(found) : text;
  });
  const options = replaced.replace(PARAMETER, (name) => (params.has(name) ? optionFlag(name) : name));
  return options.replace(OPERATION, (text, group: string, name: string) => {
    const found = all.find((each) => each.group === group && each.name === name);
    return found ? command(found) : text;
  });
}

interface ApiWords {
  readonly all: readonly Operation[];
  readonly params: ReadonlySet<string>;
}

const known = new WeakMap<Api, ApiWords>();

/** Once for each API: every description of every command is worded so. */
function wordsOf(api: Api): ApiWords {
  const before = known.get(api);
  if (before) return before;
  const all = operations(api);
  const words = { all, params: new Set(all.flatMap(({ endpoint }) => Object.keys(endpoint.params))) };
  known.set(api, words);
  return words;
}

function fits(template: string, path: string): boolean {
  const steps = path.split('/');
  const wanted = template.split('/');
  return (
    wanted.length === steps.length && wanted.every((step, index) => step === steps[index] || /^\{.*\}$/.test(step))
  );
}
