import { decodeString } from './decoding';
import { readByte, readU16 } from './memory';
import { reserveScratch } from './scratch';
import { skipPlain } from './strings';

/** The members of the response object that are read, as bits; the host has the names in the same order. */
export const enum Member {
  OTHER = 0,
  RET = 1,
  USER_LIST = 2,
  TASK_LIST = 4,
}

/** Finds a member by its key between two quotes. */
export function findMember(key: usize, keyEnd: usize): u32 {
  if (skipPlain(key) == keyEnd) return findByName(key, 1, <u32>(keyEnd - key));
  const units = reserveScratch(<u32>(keyEnd - key));
  return findByName(units, 2, decodeString(key, <u32>(keyEnd - key), units));
}

/** `width` is the number of bytes per letter. */
function findByName(text: usize, width: usize, length: u32): u32 {
  if (isName(text, width, length, 'ret')) return Member.RET;
  if (isName(text, width, length, 'user_list')) return Member.USER_LIST;
  return isName(text, width, length, 'task_list') ? Member.TASK_LIST : Member.OTHER;
}

function isName(text: usize, width: usize, length: u32, name: string): bool {
  if (length != <u32>name.length) return false;
  for (let index: u32 = 0; index < length; index += 1) {
    const at = text + <usize>index * width;
    const unit = width == 1 ? readByte(at) : readU16(at);
    if (unit != <u32>name.charCodeAt(<i32>index)) return false;
  }
  return true;
}
