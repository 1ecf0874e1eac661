import { discard } from '../discard.ts';
import { servePollCommands } from './poll-commands.ts';

servePollCommands((url) => discard(url));
