import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Log } from '@granary/kernel';
import { defaultConfig } from './defaults.ts';
import { schemaProblems } from './problems.ts';
import { brokenRules } from './rules.ts';
import { ConfigSchema, type Config } from './schema.ts';

const CONFIG_FILE = 'granary.config.json';
const SCHEMA_FILE = 'granary.config.schema.json';
const PROBLEMS_SHOWN_MAX = 10;

/** A config file that cannot be used; the message says where and what is allowed. */
export class ConfigError extends Error {
  constructor(file: string, problems: readonly string[]) {
    const shown = problems.slice(0, PROBLEMS_SHOWN_MAX).map((problem) => `\n  ${problem}`);
    const more = problems.length > shown.length ? `\n  and ${problems.length - shown.length} more` : '';
    super(`${file} cannot be used:${shown.join('')}${more}`);
    this.name = 'ConfigError';
  }
}

interface LoadOptions {
  readonly dataDir: string;
  /** A file the operator named; it must exist. */
  readonly configFile?: string | undefined;
  readonly log: Log;
}

export function configFileOf({ dataDir, configFile }: Pick<LoadOptions, 'dataDir' | 'configFile'>): string {
  return configFile ?? join(dataDir, CONFIG_FILE);
}

/** Reads the config; a first start writes the defaults, so that there is something to edit. */
export function loadConfig({ dataDir, configFile, log }: LoadOptions): Config {
  const file = configFileOf({ dataDir, configFile });
  if (!existsSync(file)) {
    if (configFile !== undefined) throw new ConfigError(file, ['there is no such file; check --config']);
    writeDefaults(file);
    log.info({ file }, 'wrote the default configuration');
  }
  return parseConfig(readFileSync(file, 'utf8'), file);
}

function writeDefaults(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(join(dirname(file), SCHEMA_FILE), `${JSON.stringify(ConfigSchema, null, 2)}\n`);
  writeFileSync(file, `${JSON.stringify(defaultConfig(), null, 2)}\n`, { flag: 'wx', flush: true });
}

export function parseConfig(text: string, file = CONFIG_FILE): Config {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ConfigError(file, [`it is not valid JSON: ${(error as Error).message}`]);
  }
  const problems = schemaProblems(value);
  if (problems.length > 0) throw new ConfigError(file, problems);
  const config = value as Config;
  const broken = brokenRules(config);
  if (broken.length > 0) throw new ConfigError(file, broken);
  return config;
}
