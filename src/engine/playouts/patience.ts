/*
 * How long the engine waits for a playout before it decides that it is gone, in milliseconds. Liquidsoap polls for
 * commands every ten seconds; a script that takes none calls only between songs.
 */

/** A playout that takes commands is disconnected, and its play is ended, after five polls that did not come. */
export const disconnectedAfterMs = 60_000

/** A playout that said that it disconnects may come back within this time before its play is ended. */
export const reconnectsWithinMs = 15_000

/** Operators are told of a station that has played nothing for this long. */
export const silenceAlertAfterMs = 15_000

/** Operators are told of a playout that has not called for this long: one poll did not come, and the next is late. */
export const unseenAlertAfterMs = 18_000

/** After a start of the workers, playouts need some time to call again: no alert is raised before. */
export const alertsAfterStartMs = 30_000

/** As `alertsAfterStartMs`, before a play is ended, which listeners hear. */
export const timeOutsAfterStartMs = 90_000
