import { request } from 'undici';
import { parseCommandLine } from '../config/command-line.ts';
import { listenAddress } from '../config/addresses.ts';
import type { Command } from './command.ts';
