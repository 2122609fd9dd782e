// The locks of pthreads and of C++'s library by the names of their members. The engine has this table from here (native/c2c/lock_names.h).

/** What glibc's locks are made of: no more than the lock is worth a name. */
export const LOCKS: readonly { name: string; /** What its members' names begin with. */ members: readonly string[] }[] = [
  { name: 'mutex', members: ['__lock', '__count', '__owner', '__nusers', '__kind', '__spins', '__elision', '__list'] },
  {
    name: 'condition variable',
    members: ['__wseq', '__g1_start', '__g1_orig_size', '__g_refs', '__g_size', '__wrefs', '__g_signals', '__unused_initialized'],
  },
  {
    name: 'read-write lock',
    members: ['__readers', '__writers', '__wrphase_futex', '__writers_futex', '__cur_writer', '__shared', '__flags'],
  },
];

/** Members of libstdc++'s classes that hold nothing but such a lock. */
export const LOCK_HOLDERS: readonly string[] = ['_M_mutex', '_M_cond', '_M_rwlock', '_M_impl'];

const INSIDE = new RegExp(`^(?:(.*?)\\.)??(?:(?:${LOCK_HOLDERS.join('|')})\\.)*__data\\.(__.*)$`, 's');

/**
 * "lock" and "mutex" of `lock._M_mutex.__data.__owner | lock._M_mutex.__align`, "" and "mutex" inside of the lock itself; undefined of other
 * members. Of alternatives the first says which it is.
 */
export function lockOf(field: string): { field: string; lock: string } | undefined {
  const [, before = '', member = ''] = INSIDE.exec(field) ?? [];
  const lock = LOCKS.find(({ members }) => members.some((start) => member.startsWith(start)))?.name;
  return lock === undefined ? undefined : { field: before, lock };
}

/** The locks of pthreads, C++, Rust (also parking_lot) and Go, as debug information spells their types. */
const LOCK_TYPE =
  /(?:^|::|\.)(?:pthread_(?:mutex|rwlock|spinlock)_t|(?:recursive_|shared_)?(?:timed_)?mutex|(?:Raw)?Mutex|(?:Raw)?RwLock|RWMutex)(?:<.*>)?$/s;

export function isLockType(type: string): boolean {
  return LOCK_TYPE.test(type);
}
