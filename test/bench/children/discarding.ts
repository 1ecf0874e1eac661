import { discard } from '../discard.ts';
import { answerPolls } from './polls.ts';

answerPolls((url) => discard(url));
