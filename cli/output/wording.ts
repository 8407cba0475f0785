import { operations, type Api, type Operation } from '@granary/contract';
import { commandName } from '../names.ts';

/** `POST /settings/encryption`, with or without `/api` and a number or name in place of a parameter. */
const CALL = /\b(GET|POST|PUT|DELETE) (?:\/api)?(\/[\w{}/:.-]*[\w}])/g;
/** `use force=YES`: a switch of the command. */
const FORCE = /\bforce=YES\b/g;
const OPERATION = /\b([a-z][A-Za-z]*)\.([a-z][A-Za-z]*)\b/g;
/** What one types before the group. */
const PREFIXES: Readonly<Record<string, string>> = { array: 'array ', objects: 'objects ' };

/** A message of a service in the words of the command line: calls and operations become the commands that make them. */
export function inCommands(api: Api, message: string): string {
  const all = operations(api);
  const command = (operation: Operation) => `\`granary ${PREFIXES[api.name] ?? ''}${commandName(operation)}\``;
  const replaced = message.replace(FORCE, '--force').replace(CALL, (text, method: string, path: string) => {
    const meant = all.filter(({ endpoint }) => endpoint.method === method);
    const found =
      meant.find(({ endpoint }) => endpoint.path === path) ?? meant.find(({ endpoint }) => fits(endpoint.path, path));
    return found ? command(found) : text;
  });
  return replaced.replace(OPERATION, (text, group: string, name: string) => {
    const found = all.find((each) => each.group === group && each.name === name);
    return found ? command(found) : text;
  });
}

function fits(template: string, path: string): boolean {
  const steps = path.split('/');
  const wanted = template.split('/');
  return (
    wanted.length === steps.length && wanted.every((step, index) => step === steps[index] || /^\{.*\}$/.test(step))
  );
}
