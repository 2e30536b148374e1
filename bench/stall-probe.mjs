/**
 * Loaded into the processes of a benchmark with `NODE_OPTIONS=--import`: appends a line with milliseconds to the file `<pid>` in the
 * folder `STALL_FOLDER` for each stall of the event loop of more than 5 ms of CPU time of its thread. Unlike a delay, this does not grow
 * when other programs use the processor. Linux only.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const folder = process.env.STALL_FOLDER
const leastMs = 5

const readCpuMs = () =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6

if (folder && isMainThread) {
  let lastMs = readCpuMs()
  setInterval(() => {
    const cpuMs = readCpuMs()
    if (cpuMs - lastMs > leastMs) appendFileSync(`${folder}/${process.pid}`, `${cpuMs - lastMs}\n`)
    lastMs = cpuMs
  }, 1).unref()
}
