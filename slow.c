
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct money { long units, cents; };
struct day { int number; struct money today; };
struct day day __attribute__((aligned(64)));
static volatile long counters[4] __attribute__((aligned(64)));
static void *body(void *index) {
  for (int i = 1; i <= 150; i++) {
    counters[(long)index] = i;
    *(volatile long *)&day.today.cents = i;
    usleep(2000);
  }
  return 0;
}
int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, body, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return 3;
}
