import { PREPARE, runProgram } from '@granary/kernel';
import { startArray } from './start.ts';

// What controllers load in their threads is compiled beforehand, like all the rest.
if (process.argv[2] === PREPARE) {
  await import('./engine/controllers/controller-main.ts');
  await import('./engine/embedded/open-engine.ts');
}
runProgram(startArray);
