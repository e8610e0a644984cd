// vramscope: the command line. Verbs are in commands/, one a file.
#include "cli/app.h"

int main(int argc, char** argv) {
  return vramscope::run(argc, argv);
}
