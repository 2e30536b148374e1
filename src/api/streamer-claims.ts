import { sourceUser } from '../db/streamers.ts'

/** A user and the password that shall prove it. */
export interface Claim {
  readonly user: string
  readonly password: string
}

/**
 * Whom a streaming client may mean, in the order in which it is to be believed. Programs that know no users send none,
 * or `source`, and leave one field for the password: it holds the station's, or `user,password` or `user:password`.
 * Never empty; at most one claim is of another user than `source`.
 */
export function claimsOf({ user, password }: Claim): Claim[] {
  const name = nameOf(user)
  if (name !== sourceUser) return [{ user: name, password }]
  const [, named, rest] = /^([^,:]+)[,:]([^]*)$/.exec(password) ?? []
  const whole = { user: sourceUser, password }
  return named === undefined || rest === undefined
    ? [whole]
    : [whole, { user: nameOf(named), password: rest }]
}

function nameOf(user: string): string {
  const name = user.trim()
  return name === '' || name.toLowerCase() === sourceUser ? sourceUser : name
}
