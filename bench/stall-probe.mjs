/**
 * Loaded into the processes of a benchmark with `NODE_OPTIONS=--import`: appends a line to the file `<pid>` in the
 * folder `STALL_FOLDER` for each time that the event loop had no pause for more than 5 ms: its end in Unix
 * milliseconds, the CPU time of the thread, and the time that passed, both in milliseconds. Only the latter grows when
 * other programs use the processor. Linux only.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const folder = process.env.STALL_FOLDER
const leastMs = 5

const readCpuMs = () =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6

if (folder && isMainThread) {
  let lastCpuMs = readCpuMs()
  let lastMs = performance.now()
  setInterval(() => {
    const nowMs = performance.now()
    const cpuMs = readCpuMs()
    if (nowMs - lastMs > leastMs)
      appendFileSync(
        `${folder}/${process.pid}`,
        `${performance.timeOrigin + nowMs} ${cpuMs - lastCpuMs} ${nowMs - lastMs}\n`
      )
    lastCpuMs = cpuMs
    lastMs = nowMs
  }, 1).unref()
}
