export { commandName, kebab, optionFlag } from '@granary/contract/command-line';
