import { PREPARE, runProgram } from '@granary/kernel';
import { prepareEngines } from './engine/start.ts';
import { startObjects } from './start.ts';

// What controllers load in their threads is compiled beforehand, like all the rest.
if (process.argv[2] === PREPARE) {
  await prepareEngines();
}
runProgram(startObjects);
