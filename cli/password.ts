import { Option } from 'commander';
import type { GranaryCommand } from './command.ts';
import { usageFailure } from './exit.ts';

/** Not in the help: it is there to say what to use in its place. */
export function addPasswordAdvice(command: GranaryCommand): void {
  const option = new Option('--password [text]').hideHelp();
  command.addOption(
    option.argParser(() => {
      throw passwordAdvice();
    }),
  );
  command.hook('preAction', (_, action) => {
    if (action.getOptionValue('password') !== undefined) throw passwordAdvice();
  });
}

function passwordAdvice(): Error {
  return usageFailure(
    'A password on the command line can be seen by all users of this machine and stays in the history of the shell.',
    ['Pipe it in: --password-stdin < FILE', 'or set GRANARY_PASSWORD, or leave it out to be asked for it.'],
  );
}
