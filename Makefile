CFLAGS ?= -O2 -g
all: build/gpupool
SRC := $(wildcard src/*.c src/*/*.c src/*/*/*.c)
OBJ := $(SRC:%.c=build/obj/%.o)
build/gpupool: $(OBJ)
	$(CC) $(LDFLAGS) -o $@ $^ -ljansson -lz -lzstd -lm -lpthread
build/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Iinclude -Isrc $(CFLAGS) -MMD -MP -c -o $@ $<
-include $(OBJ:.o=.d)
